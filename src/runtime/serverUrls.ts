/** The addresses of PostgreSQL servers in one URL, as in `postgres://user:password@a:5432,b:5432/db`. */

const parts = /^(postgres(?:ql)?:\/\/(?:[^/?#@]*@)?)([^/?#]*)(.*)$/s

/** The attributes that a session of one of several servers can be asked for: all mean the primary. */
const primaryAttributes: ReadonlySet<string> = new Set(["read-write", "primary"])

/**
 * One URL for each server; none where the text is not such a URL, or asks for a server other than
 * the primary of several.
 */
export const serverUrls = (text: string): ReadonlyArray<string> => {
  const [, beginning = "", hosts = "", end = ""] = parts.exec(text) ?? []
  if (beginning === "") return []
  const urls = hosts.split(",").map((host) => `${beginning}${host}${end}`)
  const parsed = urls.flatMap((url) => URL.parse(url) ?? [])
  const isNamed = urls.length === 1 || hosts.split(",").every((host) => host !== "")
  const wanted = parsed[0]?.searchParams.get("target_session_attrs") ?? "primary"
  const isPrimary = urls.length === 1 || primaryAttributes.has(wanted)
  return isNamed && isPrimary && parsed.length === urls.length ? urls : []
}
