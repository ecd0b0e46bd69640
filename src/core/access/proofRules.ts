/** After a person has confirmed that it is them, sensitive steps need no new proof for this long. */
export const provenSeconds = 300;
