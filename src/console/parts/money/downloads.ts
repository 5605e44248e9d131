/** Downloads of files, with the session's key or token. */
import { useMutation } from "@tanstack/react-query"
import { request, save } from "../../gateway/files.ts"
import { useSession } from "../../gateway/hooks.tsx"
import type { Session } from "../../gateway/session.ts"

interface Download {
  readonly path: string
  readonly accept: string
  /** The name of the file, where the response names none. */
  readonly name?: string
}

/** A CSV file, which the gateway names. */
export const entriesFile = (path: string): Download => ({ path, accept: "text/csv" })

const fileNameOf = (response: Response): string | undefined =>
  /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1]

/** The address of the next page, from the `link` header of a CSV list. */
const nextUrlOf = (response: Response): string | null =>
  /<([^>]+)>;\s*rel="next"/.exec(response.headers.get("link") ?? "")?.[1] ?? null

const endLine = (text: string): string => (text.endsWith("\n") ? text : `${text}\r\n`)
const withoutFirstLine = (text: string): string => text.slice(text.indexOf("\n") + 1)

/** Saves the whole file. A file of one page is saved unchanged, byte by byte. */
const saveFile = async (session: Session, { path, accept, name }: Download): Promise<void> => {
  const init = { headers: { accept } }
  const first = await request(session, path, init)
  const fileName = fileNameOf(first) ?? name ?? "download"
  let nextUrl = nextUrlOf(first)
  if (nextUrl === null) return save(await first.blob(), fileName)
  const parts = [endLine(await first.text())]
  while (nextUrl !== null) {
    const response: Response = await request(session, nextUrl, init)
    parts.push(endLine(withoutFirstLine(await response.text())))
    nextUrl = nextUrlOf(response)
  }
  save(new Blob(parts, { type: accept }), fileName)
}

export const useDownload = () => {
  const { session } = useSession()
  return useMutation({ mutationFn: (download: Download) => saveFile(session, download) })
}
