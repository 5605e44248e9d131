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
const nextUrlOf = (response: Response): string | null =>
  /<([^>]+)>;\s*rel="next"/.exec(response.headers.get("link") ?? "")?.[1] ?? null

const endLine = (text: string): string => (text.endsWith("\n") ? text : `${text}\r\n`)
const withoutFirstLine = (text: string): string => text.slice(text.indexOf("\n") + 1)

/** The whole file. A file of one page is saved unchanged, byte by byte. */
const downloadPages = async (session: Session, { path, accept }: Download): Promise<Blob> => {
  const init = { headers: { accept } }
  const first = await request(session, path, init)
  let nextUrl = nextUrlOf(first)
  if (nextUrl === null) return first.blob()
  const parts = [endLine(await first.text())]
  while (nextUrl !== null) {
    const response: Response = await request(session, nextUrl, init)
    parts.push(endLine(withoutFirstLine(await response.text())))
    nextUrl = nextUrlOf(response)
  }
  return new Blob(parts, { type: accept })
}

export const useDownload = () => {
  const { session } = useSession()
  return useMutation({
    mutationFn: async (download: Download) =>
      save(await downloadPages(session, download), download.name)
  })
}
