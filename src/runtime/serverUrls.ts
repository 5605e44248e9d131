/** The addresses of PostgreSQL servers in one URL, as in `postgres://user:password@a:5432,b:5432/db`. */

/** The scheme with user and password, the hosts, and the rest. The hosts begin after the last `@`. */
const parts = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/is

/** One URL for each server; none where the text is not such a URL. */
export const serverUrls = (text: string): ReadonlyArray<string> => {
  const [, beginning = "", hosts = "", end = ""] = parts.exec(text) ?? []
  if (beginning === "") return []
  const names = hosts.split(",")
  const urls = names.map((name) => `${beginning}${name}${end}`)
  const areNamed = names.length === 1 || names.every((name) => name !== "")
  return areNamed && urls.every((url) => URL.canParse(url)) ? urls : []
}

/** The values of `target_session_attrs` that mean the primary. */
const primaryAttributes: ReadonlySet<string> = new Set(["read-write", "primary"])

/** Whether the URL asks for the primary of several servers, as every URL does without the parameter. */
export const asksForPrimary = (text: string): boolean => {
  const [first = "", ...others] = serverUrls(text)
  const wanted = URL.parse(first)?.searchParams.get("target_session_attrs") ?? "primary"
  return others.length === 0 || primaryAttributes.has(wanted)
}
