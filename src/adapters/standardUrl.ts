/**
 * An address of the common standard form. The base holds the version segment; one without any path
 * gets `/v1`.
 */
export const standardUrl = (baseUrl: string, path: string): string => {
  const base = baseUrl.replace(/\/+$/, "")
  return /^https?:\/\/[^/]+$/i.test(base) ? `${base}/v1/${path}` : `${base}/${path}`
}
