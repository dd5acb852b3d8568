/** What a handler gets. No route has more than one path parameter. */
export interface Call {
  readonly id: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

export interface Route {
  /** Method and path, relative to the base URL: `GET /clinics/:clinicId/clients`. */
  readonly template: string;
  /** Returns the body of a 200, or throws a PartnerApiFailure. */
  readonly handle: (call: Call) => unknown;
  /** Needs no access token. */
  readonly isPublic?: true;
}

export interface Match {
  readonly route: Route;
  readonly id: string;
}

/** All paths are `/noun`, `/noun/:id` or `/noun/:id/part`, so one Map is enough. */
export function createRouter(routes: readonly Route[]) {
  const byShape = new Map(routes.map((route) => [shapeOf(route.template), route]));
  return (method: string, path: string): Match | undefined => {
    const [empty, noun, id, part, ...more] = path.split('/');
    if (empty !== '' || !noun || more.length > 0) return undefined;
    const exact = byShape.get(`${method} ${path}`);
    if (exact) return { route: exact, id: '' };
    if (!id) return undefined;
    const route = byShape.get(`${method} /${noun}/:${part === undefined ? '' : `/${part}`}`);
    return route && { route, id: decoded(id) };
  };
}

/** A template without the names of its parameters, which are written `:name` or `{name}`. */
const shapeOf = (template: string): string => template.replaceAll(/:\w+|\{\w+\}/g, ':');

/** `pattern` is a template with or without its method, or `*` for all. */
export function matchesRoute(pattern: string, template: string): boolean {
  if (pattern === '*') return true;
  const shape = shapeOf(template);
  return shapeOf(pattern) === (pattern.startsWith('/') ? shape.slice(shape.indexOf('/')) : shape);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
