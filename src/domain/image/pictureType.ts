/** What files of pictures are, by how they begin. */

/** In bytes as Latin letters. */
const beginnings: ReadonlyArray<readonly [RegExp, string]> = [
  [/^\x89PNG/, "image/png"],
  [/^\xff\xd8\xff/, "image/jpeg"],
  [/^RIFF.{4}WEBP/s, "image/webp"],
  [/^GIF8/, "image/gif"]
]

/** The media type of a picture's bytes; null where they are none that is known. */
export const pictureType = (bytes: Uint8Array): string | null => {
  const head = Buffer.from(bytes.subarray(0, 12)).toString("latin1")
  return beginnings.find(([begin]) => begin.test(head))?.[1] ?? null
}
