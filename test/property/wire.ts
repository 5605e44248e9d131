/** The bytes of an answer, and when they are sent: headers, encoding, framing, pieces and cuts. */
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib"
import type { Mark } from "./answerParts.ts"
import type { AnswerPlan } from "./plans.ts"
import type { Text } from "./shapes.ts"

/** How the connection goes on after the last byte. */
type End = "keep" | "end" | "reset" | "hang"

export interface Written {
  /** In the pieces they are sent in. */
  readonly pieces: ReadonlyArray<Uint8Array>
  readonly end: End
}

const rightType = ({ isStream, isSound = false }: Text): string =>
  isStream ? "text/event-stream" : isSound ? "audio/mpeg" : "application/json"

const types: Readonly<Record<AnswerPlan["type"], (text: Text) => ReadonlyArray<string>>> = {
  right: (text) => [rightType(text)],
  none: () => [],
  json: () => ["application/json"],
  "json charset": () => ["application/json; charset=utf-8"],
  problem: () => ["application/problem+json"],
  events: () => ["text/event-stream; charset=utf-8"],
  text: () => ["text/plain"],
  html: () => ["text/html"],
  octets: () => ["application/octet-stream"],
  png: () => ["image/png"],
  nonsense: () => [";;;"],
  two: () => ["application/json", "text/event-stream"],
  list: () => ["application/json, text/event-stream"]
}

const BOMB = Buffer.alloc(8 * 1024 * 1024, " ")

const codings: Readonly<
  Record<AnswerPlan["coding"], (body: Buffer) => readonly [body: Buffer, said: string | null]>
> = {
  none: (body) => [body, null],
  gzip: (body) => [gzipSync(body), "gzip"],
  deflate: (body) => [deflateSync(body), "deflate"],
  br: (body) => [brotliCompressSync(body), "br"],
  "gzip unsaid": (body) => [gzipSync(body), null],
  "gzip said only": (body) => [body, "gzip"],
  "gzip cut": (body) => [gzipSync(body).subarray(0, -6), "gzip"],
  "gzip twice": (body) => [gzipSync(gzipSync(body)), "gzip, gzip"],
  bomb: (body) => [gzipSync(Buffer.concat([body, BOMB])), "gzip"]
}

/** The same text with half a character in the middle of a word, behind the mark and its number. */
const broken = (body: Buffer, mark: Mark): Buffer => {
  const at = body.indexOf(mark.text) + mark.text.length + 2
  return Buffer.concat([body.subarray(0, at), Buffer.from([0xc3, 0x28]), body.subarray(at)])
}

const MAX_PIECES = 400

const cutUp = (bytes: Buffer, { pieces }: AnswerPlan): ReadonlyArray<Buffer> => {
  if (pieces === "whole") return [bytes]
  const usual = pieces === "bytes" ? 1 : 37
  const size = Math.max(usual, Math.ceil(bytes.length / MAX_PIECES))
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size)
  )
}

const chunked = (pieces: ReadonlyArray<Buffer>): ReadonlyArray<Buffer> => [
  ...pieces
    .filter(({ length }) => length > 0)
    .map((piece) =>
      Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")])
    ),
  Buffer.from("0\r\n\r\n")
]

/** The lines of the head that tell where the body ends. */
const framed = ({ framing }: AnswerPlan, length: number): ReadonlyArray<string> => {
  switch (framing) {
    case "chunked":
      return ["transfer-encoding: chunked"]
    case "close":
      return ["connection: close"]
    case "too long":
      return [`content-length: ${length + 10}`]
    case "too short":
      return [`content-length: ${Math.max(0, length - 10)}`]
    case "both":
      return [`content-length: ${length}`, "transfer-encoding: chunked"]
    default:
      return [`content-length: ${length}`]
  }
}

const ends: Readonly<Record<AnswerPlan["cut"], End | null>> = {
  none: null,
  end: "end",
  reset: "reset",
  hang: "hang",
  "end at once": "end",
  "reset at once": "reset",
  "hang at once": "hang"
}

const upTo = (pieces: ReadonlyArray<Buffer>, bytes: number): ReadonlyArray<Buffer> => {
  let left = bytes
  return pieces.map((piece) => {
    const part = piece.subarray(0, Math.max(0, left))
    left -= piece.length
    return part
  })
}

export const encodeAnswer = (
  plan: AnswerPlan,
  answer: Text,
  mark: Mark,
  headers: ReadonlyArray<string> = []
): Written => {
  const { text } = answer
  const cut = ends[plan.cut]
  if (cut !== null && plan.cut.endsWith("at once")) return { pieces: [], end: cut }
  const plainBody = Buffer.from(text)
  const isBroken = plan.shape === "bad utf-8" && text.includes(mark.text)
  const [body, coding] = codings[plan.coding](isBroken ? broken(plainBody, mark) : plainBody)
  const pieces = cutUp(body, plan)
  const isChunked = plan.framing === "chunked" || plan.framing === "both"
  const framedPieces = isChunked ? chunked(pieces) : pieces
  const head = [
    `HTTP/1.1 ${plan.status} Said`,
    ...types[plan.type](answer).map((type) => `content-type: ${type}`),
    ...(coding === null ? [] : [`content-encoding: ${coding}`]),
    ...framed(plan, body.length),
    ...(plan.header === "product" ? [`x-result: https://media.test/${mark.text}i0.png`] : []),
    ...headers,
    "",
    ""
  ].join("\r\n")
  const length = framedPieces.reduce((sum, piece) => sum + piece.length, 0)
  const sent = cut === null ? framedPieces : upTo(framedPieces, Math.floor(length * plan.cutAt))
  const rest = plan.framing === "garbage" ? [Buffer.from("HTTP/1.1 200 garbage\r\n\r\n??")] : []
  return {
    pieces: [Buffer.from(head), ...sent, ...rest],
    end: cut ?? (plan.framing === "close" || plan.framing === "too long" ? "end" : "keep")
  }
}
