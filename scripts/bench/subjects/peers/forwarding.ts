/** What both proxies do with a request: the vendor's path, and the body with the model renamed. */

/** Both are told by their environment. */
export const vendorUrl = process.env.VENDOR_URL ?? ""
export const port = Number(process.env.PORT)

const OURS = "/v1/videos"
const VENDORS = "/api/v3/contents/generations/tasks"

export const vendorPath = (path: string): string => {
  if (!path.startsWith(OURS)) return path
  const rest = path.slice(OURS.length)
  return rest === "/generations" ? VENDORS : VENDORS + rest
}

export const renamed = (body: object): string => {
  const model = "model" in body ? body.model : undefined
  return JSON.stringify({ ...body, model: `vendor-${model}` })
}

export const vendorHeaders = {
  "content-type": "application/json",
  authorization: "Bearer vendor-key"
}
