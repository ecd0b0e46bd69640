/** Processes that mention a folder in their command line, environment or working directory; not the present one. */
export const processesBelow: (folder: string) => { pid: number; command: string }[];
