/** The forwarding of both proxies: the vendor's path, and the body with the vendor's model name. */

/** Both values come from environment variables. */
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
