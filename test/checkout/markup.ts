/** A strict HTML parser: whatever a browser would have to guess is an error. */
export type Element = {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: (Element | string)[];
};

const voids = new Set(['meta', 'link', 'input', 'wbr']);
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

const decode = (text: string): string =>
  !text.includes('&')
    ? text
    : text.replaceAll(/&([^;&\s]*;?)?/g, (whole, name: string | undefined) => {
        const found = name?.endsWith(';') ? entities[name.slice(0, -1)] : undefined;
        if (found === undefined) throw new Error(`an ampersand that is not escaped: ${whole}`);
        return found;
      });

const attributePattern = / ([a-zA-Z][a-zA-Z-]*)(?:="([^"<>]*)")?/y;

const attributesOf = (source: string, tag: string): Map<string, string> => {
  const found = new Map<string, string>();
  attributePattern.lastIndex = 0;
  while (attributePattern.lastIndex < source.length) {
    const at = attributePattern.lastIndex;
    const match = attributePattern.exec(source);
    if (!match) throw new Error(`attributes of ${tag} that cannot be read: ${source.slice(at)}`);
    if (found.has(match[1]!)) throw new Error(`${tag} has ${match[1]} twice`);
    found.set(match[1]!, decode(match[2] ?? ''));
  }
  return found;
};

const tokenPattern = /<(\/?)([a-zA-Z][a-zA-Z0-9]*)((?: [^<>]*)?)>|[^<>]+/y;

/** Parses a page or a part of one. */
export const parseMarkup = (source: string): Element => {
  const root: Element = { name: '', attributes: new Map(), children: [] };
  const open = [root];
  const text = source.replace(/^<!doctype html>\n/, '');
  tokenPattern.lastIndex = 0;
  while (tokenPattern.lastIndex < text.length) {
    const at = tokenPattern.lastIndex;
    const match = tokenPattern.exec(text);
    if (!match) throw new Error(`markup that cannot be read: ${text.slice(at, at + 80)}`);
    const [whole, slash, name, inside = ''] = match;
    const isEmpty = inside.endsWith('/');
    const parent = open.at(-1)!;
    if (name === undefined) parent.children.push(decode(whole));
    else if (slash === '/') {
      if (parent.name !== name) throw new Error(`</${name}> closes <${parent.name}>`);
      open.pop();
    } else {
      const element: Element = {
        name,
        attributes: attributesOf(isEmpty ? inside.slice(0, -1) : inside, name),
        children: [],
      };
      parent.children.push(element);
      if (!isEmpty && !voids.has(name)) open.push(element);
    }
  }
  if (open.length > 1) throw new Error(`<${open.at(-1)!.name}> is not closed`);
  return root;
};

export const elementsOf = (element: Element): Element[] =>
  element.children.flatMap(child => (typeof child === 'string' ? [] : [child, ...elementsOf(child)]));

export const textOf = (element: Element): string =>
  element.children.map(child => (typeof child === 'string' ? child : textOf(child))).join('');

export const find = (root: Element, matches: (element: Element) => boolean): Element => {
  const found = elementsOf(root).filter(matches);
  if (found.length !== 1) throw new Error(`${found.length} elements where one was expected`);
  return found[0]!;
};

/** Elements in order and depth, with their attribute names: text must not change any of it. */
export const shapeOf = (element: Element): string =>
  element.children
    .flatMap(child =>
      typeof child === 'string'
        ? []
        : [`<${child.name} ${[...child.attributes.keys()].join(' ')}>${shapeOf(child)}</${child.name}>`],
    )
    .join('');
