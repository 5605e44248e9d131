/** The columns of a vendor's list, read from its header line, as choices of the form. */
import { delimiters, detectDelimiter } from "../../../../features/reconciliations/vendorLists.ts"

const FIRST_BYTES = 64 * 1024

/** The column names without quotes; empty where the first line cannot be read. */
export const columnsOf = async (
  file: File,
  encoding: string | null
): Promise<ReadonlyArray<string>> => {
  try {
    const bytes = await file.slice(0, FIRST_BYTES).arrayBuffer()
    const [line = ""] = new TextDecoder(encoding ?? "utf-8").decode(bytes).split(/[\r\n]/, 1)
    const names = line.split(delimiters[detectDelimiter(line)])
    return [...new Set(names.map((name) => name.trim().replace(/^"(.*)"$/, "$1")))].filter(
      (name) => name !== ""
    )
  } catch {
    return []
  }
}
