/** Bodies of the largest and the worst kinds that a client can send, one of each. */

const MEBIBYTE = 1024 * 1024

export interface LargeBody {
  readonly what: string
  readonly path: string
  /** Made when it is sent: together they would take more memory than a test has. */
  readonly make: () => Buffer<ArrayBuffer>
  /** Whether the bytes alone are reason to refuse it, before anything is made of them. */
  readonly refused: "by its bytes" | "as a body" | null
}

const images = "/v1/images/generations"
const videos = "/v1/videos/generations"
const chat = "/v1/chat/completions"
const embeddings = "/v1/embeddings"
const quotes = "/v1/quotes"

const paint = '{"model":"paint-1","prompt":"x"'
const film = '{"model":"film-1","prompt":"x"'
const vector = '{"model":"vector-1","input":'
const png = "data:image/png;base64,"

const utf8 = (text: string): Buffer<ArrayBuffer> => Buffer.from(text)
const list = (item: string, count: number): string => `[${`${item},`.repeat(count - 1)}${item}]`
const names = (count: number, one: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => one(index)).join("")

/** `size` is a multiple of the bytes of `fill`. */
const bytes = (from: string, fill: string, size: number, to: string) => (): Buffer<ArrayBuffer> => {
  const body = Buffer.alloc(from.length + size + to.length)
  body.write(from)
  body.fill(fill, from.length, from.length + size)
  body.write(to, from.length + size)
  return body
}

/** As long as `mebibytes` allow, with whole fills. */
const filled = (from: string, fill: string, mebibytes: number, to: string) =>
  bytes(from, fill, mebibytes * MEBIBYTE - ((mebibytes * MEBIBYTE) % Buffer.byteLength(fill)), to)

/** `mebibytes` are those of the largest bodies, of up to 64 MiB. */
export const largeBodies = (mebibytes: number): ReadonlyArray<LargeBody> => {
  const body = (
    what: string,
    path: string,
    make: () => Buffer<ArrayBuffer>,
    refused: LargeBody["refused"] = null
  ): LargeBody => ({ what, path, make, refused })
  const tooMuch = (what: string, path: string, make: () => Buffer<ArrayBuffer>) =>
    body(what, path, make, "by its bytes")
  const tokens = list(list("12345", 170), 2048)
  const beside = `"x":"${"A".repeat(MEBIBYTE)}"`
  const message = '{"model":"talk-1","messages":[{"role":"user","content":'
  return [
    // Refused
    tooMuch("empty arrays", images, filled(`${paint},"x":[[]`, ",[]", mebibytes, "]}")),
    tooMuch("empty arrays for a quote", quotes, filled(`${paint},"x":[[]`, ",[]", 1 / 2, "]}")),
    tooMuch("numbers", images, filled(`${paint},"x":[1`, ",1", mebibytes, "]}")),
    tooMuch("objects", chat, filled('{"x":[1', ',{"":{}}', mebibytes, "]}")),
    tooMuch("empty texts", embeddings, filled(`${vector}[""`, ',""', mebibytes, "]}")),
    tooMuch("empty arrays of tokens", embeddings, filled(`${vector}[[]`, ",[]", mebibytes, "]}")),
    tooMuch("tokens", embeddings, filled(`${vector}[1`, ",1", mebibytes, "]}")),
    tooMuch("many names", images, () =>
      utf8(`${paint}${names(60_000, (index) => `,"k${index}":1`)}}`)
    ),
    tooMuch("one name many times", videos, filled(film, ',"x":1', mebibytes, "}")),
    tooMuch("levels", images, filled(`${paint},"x":`, "[", mebibytes, "")),
    tooMuch("spaces", images, filled(paint, " ", mebibytes, "}")),
    tooMuch("one number", images, filled(`${paint},"x":`, "1", mebibytes, "}")),
    tooMuch("one name", images, filled(`${paint},"`, "x", mebibytes, '":1}')),
    tooMuch("escapes of letters", images, filled(`${paint},"x":"`, "\\u0041", mebibytes, '"}')),
    tooMuch("halves of pairs", images, filled(`${paint},"x":"`, "\\ud83d", mebibytes, '"}')),
    tooMuch("another script", chat, filled(`${message}"`, "黄", mebibytes, '"}]}')),
    tooMuch("what is no UTF-8", images, () => {
      const body = bytes(`${paint},"x":"`, "\u00ff", mebibytes * MEBIBYTE, '"}')()
      return body.fill(0xff, 40, body.length - 10)
    }),
    body(
      "no JSON at the end",
      images,
      filled(`${paint},"image":"${png}`, "A", mebibytes, '",}'),
      "as a body"
    ),
    body(
      "a text without an end",
      images,
      filled(`${paint},"image":"${png}`, "A", mebibytes, ""),
      "as a body"
    ),
    body(
      "an object without an end",
      images,
      filled(`${paint},"image":"${png}`, "A", mebibytes, '"'),
      "as a body"
    ),
    body(
      "a character that needs an escape",
      images,
      filled(`${paint},"image":"${png}`, "AAA\n", mebibytes, '"}'),
      "as a body"
    ),
    body(
      "spaces in an address",
      images,
      filled(`${paint},"image":"${png}`, "AAA ", mebibytes, '"}'),
      "as a body"
    ),
    body(
      "faults",
      chat,
      () => utf8(`{"model":"talk-1","messages":${list("[]", 49_000)}}`),
      "as a body"
    ),
    body(
      "a fault at the end",
      embeddings,
      () => utf8(`${vector}${list(list("12345", 150), 2000).slice(0, -1)},"x"]}`),
      "as a body"
    ),
    // Taken
    body("an image", images, filled(`${paint},"image":"${png}`, "A", mebibytes, '"}')),
    body(
      "an image with escapes",
      images,
      filled(`${paint},"image":"${png}`, "AA\\/", mebibytes, '"}')
    ),
    body("images", images, () =>
      utf8(`${paint},"images":${list(`"${png}${"A".repeat((mebibytes / 16) * MEBIBYTE)}"`, 16)}}`)
    ),
    body("a field that is passed on", images, filled(`${paint},"x":"`, "x\\n", mebibytes, '"}')),
    body("an image for a video", videos, filled(`${film},"image":"${png}`, "A", mebibytes, '"}')),
    body(
      "an image to talk of",
      chat,
      filled(`${message}[{"type":"image_url","image_url":{"url":"${png}`, "A", mebibytes, '"}}]}]}')
    ),
    body("a text", chat, filled(`${message}"`, "The lamp turns. ", mebibytes, '"}]}')),
    body("many texts", chat, () => {
      const text = "The lamp turns. ".repeat(70)
      const count = Math.min(16_000, Math.floor((mebibytes * MEBIBYTE) / (text.length + 40)))
      return utf8(
        `{"model":"talk-1","messages":${list(`{"role":"user","content":"${text}"}`, count)}}`
      )
    }),
    body("messages", chat, () =>
      utf8(`{"model":"talk-1","messages":${list('{"role":"user","content":"x"}', 16_000)}}`)
    ),
    body("parts", chat, () =>
      utf8(
        `${message}${list('{"type":"image_url","image_url":{"url":"https://a.b/c"}}', 12_000)}}]}`
      )
    ),
    body("texts in another script", chat, filled(`${message}"`, "黄", 7, '"}]}')),
    body("values", images, () => utf8(`${paint},"x":${list("[]", 49_000)}}`)),
    body("names", images, () => utf8(`${paint}${names(49_000, (index) => `,"k${index}":1`)}}`)),
    body("texts", embeddings, () =>
      utf8(`${vector}${list(`"${"x".repeat(31 * 1024)}"`, Math.min(2048, 32 * mebibytes))}}`)
    ),
    body("lists of tokens", embeddings, () => utf8(`${vector}${tokens}}`)),
    body("short lists of tokens", embeddings, () =>
      utf8(`${vector}${list("[1,2,3,4,5,6]", 49_000)},"dimensions":3}`)
    ),
    body("numbers beside a medium", embeddings, () => utf8(`${vector}${tokens},${beside}}`)),
    body("many names beside a medium", images, () =>
      utf8(`${paint},${beside}${names(49_000, (index) => `,"k${index}":1`)}}`)
    ),
    body("a quote of many values", quotes, () => utf8(`${paint},"x":${list("[]", 49_000)}}`))
  ]
}
