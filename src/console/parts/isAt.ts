/** Whether an address is the page's at the path, or below it. */
export const isAt = (place: string, path: string): boolean =>
  place === path || place.startsWith(`${path}/`)
