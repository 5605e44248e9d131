/** Whether an address is the path itself or below it. */
export const isAt = (location: string, path: string): boolean =>
  location === path || location.startsWith(`${path}/`)
