export const socketUrl = (url: string): string => `${url.replace('http', 'ws')}/graphql`;
