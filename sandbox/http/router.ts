/** What a handler gets. No route has more than one path parameter. */
interface Call {
  readonly id: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

/**
 * Handlers by method and path template, relative to the base URL: `GET /clinics/:clinicId/clients`. A handler returns
 * the body of a 200, or throws a PartnerApiFailure.
 */
export type Routes = Readonly<Record<string, (call: Call) => unknown>>;

export type Match = NonNullable<ReturnType<ReturnType<typeof createRouter>>>;

/** All paths are `/noun`, `/noun/:id` or `/noun/:id/part`, so one Map is enough. */
export function createRouter(routes: Routes) {
  const byShape = new Map(
    Object.entries(routes).map(([template, handle]) => [shapeOf(template), { template, handle }]),
  );
  return (method: string, path: string) => {
    const [empty, noun, id, part, ...more] = path.split('/');
    if (empty !== '' || !noun || more.length > 0) return undefined;
    const exact = byShape.get(`${method} ${path}`);
    if (exact) return { ...exact, id: '' };
    if (!id) return undefined;
    const route = byShape.get(`${method} /${noun}/:${part === undefined ? '' : `/${part}`}`);
    return route && { ...route, id };
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
