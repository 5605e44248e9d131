/** Bytes on a socket, for requests that no client library would send. */
import { connect } from "node:net"
import { Effect } from "effect"

export interface RawAnswer {
  readonly status: number
  /** In lower case. */
  readonly head: string
  readonly body: string
}

export interface RawOptions {
  /** Written behind the rest, a byte at a time, for as long as anybody reads it. */
  readonly drip?: string
  /** The client's address, such as another one of this machine. */
  readonly from?: string
}

const DRIP_MILLIS = 50

/** Chunked bodies are given as they come. */
const parse = (text: string): RawAnswer | null => {
  const [head = "", ...rest] = text.split("\r\n\r\n")
  const status = /^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]
  return status === undefined
    ? null
    : { status: Number(status), head: head.toLowerCase(), body: rest.join("\r\n\r\n") }
}

const isWhole = (text: string): boolean => {
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(text)?.[1]
  const end = text.indexOf("\r\n\r\n")
  return length !== undefined && end >= 0 && text.length >= end + 4 + Number(length)
}

/**
 * Writes bytes to a gateway, and reads its first answer, or until it closes the connection. Null when
 * nothing was answered.
 */
export const rawRequest = (
  url: string,
  parts: ReadonlyArray<string | Uint8Array>,
  { drip = "", from }: RawOptions = {}
): Effect.Effect<RawAnswer | null> =>
  Effect.callback<RawAnswer | null>((resume) => {
    const { hostname, port } = new URL(url)
    const socket = connect({
      port: Number(port),
      host: hostname,
      ...(from === undefined ? {} : { localAddress: from })
    })
    const drops = [...drip]
    let text = ""
    const dripping = setInterval(() => {
      const drop = drops.shift()
      if (drop === undefined || !socket.writable) clearInterval(dripping)
      else socket.write(drop)
    }, DRIP_MILLIS)
    const done = () => {
      clearInterval(dripping)
      resume(Effect.succeed(parse(text)))
      socket.destroy()
    }
    socket.setEncoding("latin1")
    socket.on("data", (chunk) => {
      text += chunk
      if (isWhole(text)) done()
    })
    socket.on("close", done)
    // A reset after the answer is as good as an end.
    socket.on("error", () => undefined)
    socket.on("connect", () => {
      for (const part of parts) socket.write(part)
    })
    return Effect.sync(done)
  })

/** A request like any other, to be written by hand or in parts. */
export const requestText = (
  target: string,
  options: {
    readonly key?: string
    readonly headers?: ReadonlyArray<string>
    readonly body?: string
    /** The connection is closed behind the answer when left out. */
    readonly connection?: "close" | "keep-alive"
  } = {}
): string =>
  [
    `${options.body === undefined ? "GET" : "POST"} ${target} HTTP/1.1`,
    "host: gateway",
    `connection: ${options.connection ?? "close"}`,
    ...(options.key === undefined ? [] : [`authorization: Bearer ${options.key}`]),
    ...(options.headers ?? []),
    ...(options.body === undefined
      ? []
      : ["content-type: application/json", `content-length: ${Buffer.byteLength(options.body)}`]),
    "",
    options.body ?? ""
  ].join("\r\n")
