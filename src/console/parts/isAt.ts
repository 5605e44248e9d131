/** Whether an address is the path itself or below it. */
export const isAt = (place: string, path: string): boolean =>
  place === path || place.startsWith(`${path}/`)
