/** Downloads of files, with the session's key or token. */
import { useMutation } from "@tanstack/react-query"
import { request, save } from "../../gateway/files.ts"
import { useSession } from "../../gateway/hooks.tsx"
import type { Session } from "../../gateway/session.ts"

interface Download {
  readonly path: string
  readonly accept: string
  readonly name: string
}

/** The address of the next page, from the `link` header of a CSV list. */
const nextOf = (response: Response): string | null =>
  /<([^>]+)>;\s*rel="next"/.exec(response.headers.get("link") ?? "")?.[1] ?? null

const closed = (text: string): string => (text.endsWith("\n") ? text : `${text}\r\n`)
const withoutFirstLine = (text: string): string => text.slice(text.indexOf("\n") + 1)

/** The whole file. A file of one page is saved unchanged, byte by byte. */
const wholeOf = async (session: Session, { path, accept }: Download): Promise<Blob> => {
  const init = { headers: { accept } }
  const first = await request(session, path, init)
  let next = nextOf(first)
  if (next === null) return first.blob()
  const parts = [closed(await first.text())]
  while (next !== null) {
    const response: Response = await request(session, next, init)
    parts.push(closed(withoutFirstLine(await response.text())))
    next = nextOf(response)
  }
  return new Blob(parts, { type: accept })
}

export const useDownload = () => {
  const { session } = useSession()
  return useMutation({
    mutationFn: async (download: Download) => save(await wholeOf(session, download), download.name)
  })
}
