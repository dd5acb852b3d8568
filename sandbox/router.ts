/** What a handler gets: the one path parameter that any route has, the query and the parsed body. */
export interface Call {
  readonly id: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

export interface Route {
  /** Verb and path, parameters as `:name`, relative to the base URL. */
  readonly template: string;
  /** Its answer is the body of a 200; a PartnerApiFailure it throws becomes an envelope. */
  readonly handle: (call: Call) => unknown;
  /** Only the route that gives out tokens is open without one. */
  readonly isOpen?: true;
}

export interface Match {
  readonly route: Route;
  readonly id: string;
}

/** All paths are `/noun`, `/noun/:id` or `/noun/:id/part`, so a look-up in a map does. */
export function createRouter(routes: readonly Route[]) {
  const byShape = new Map(routes.map((route) => [shapeOf(route.template), route]));
  return (method: string, path: string): Match | undefined => {
    const [empty, noun, id, part, ...more] = path.split('/');
    if (empty !== '' || !noun || more.length > 0) return undefined;
    const open = byShape.get(`${method} ${path}`);
    if (open) return { route: open, id: '' };
    if (!id) return undefined;
    const route = byShape.get(`${method} /${noun}/:${part === undefined ? '' : `/${part}`}`);
    return route && { route, id: unescaped(id) };
  };
}

/** Templates are compared without their parameters' names, written `:name` or `{name}`. */
export const shapeOf = (template: string): string => template.replaceAll(/:\w+|\{\w+\}/g, ':');

/** `pattern` is a template with or without its verb, or `*` for all. */
export function isRouteMeant(pattern: string, template: string): boolean {
  if (pattern === '*') return true;
  const shape = shapeOf(template);
  return shapeOf(pattern) === (pattern.startsWith('/') ? shape.slice(shape.indexOf('/')) : shape);
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
