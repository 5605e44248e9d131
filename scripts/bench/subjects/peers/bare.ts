/**
 * The upper bound for a gateway on Node: `node:http` and `undici` parse the request, rename its
 * model and stream the response. This proxy has no keys, no limits and no ledger.
 */
import { createServer, type ServerResponse } from "node:http"
import { type Dispatcher, Pool } from "undici"
import { port, renamed, vendorHeaders, vendorPath, vendorUrl } from "./forwarding.ts"

const pool = new Pool(vendorUrl, { connections: 1024, pipelining: 1 })

const passOn = (response: ServerResponse): Dispatcher.DispatchHandler => {
  let expected = -1
  return {
    onRequestStart: () => undefined,
    onResponseStart: (_, status, headers) => {
      const { "content-type": type, "content-length": length } = headers
      expected = length === undefined ? -1 : Number(length)
      response.writeHead(status, {
        "content-type": String(type),
        ...(length === undefined ? {} : { "content-length": Number(length) })
      })
    },
    onResponseData: (controller, chunk) => {
      if (chunk.length === expected) {
        response.end(chunk)
      } else if (!response.write(chunk)) {
        controller.pause()
        response.once("drain", () => controller.resume())
      }
    },
    onResponseEnd: () => {
      if (!response.writableEnded) response.end()
    },
    onResponseError: () => {
      if (response.headersSent) response.destroy()
      else response.writeHead(502).end()
    }
  }
}

createServer((request, response) => {
  const url = request.url ?? "/"
  if (url === "/healthz") return void response.end("ok")
  if (request.method === "GET") {
    pool.dispatch(
      { method: "GET", path: vendorPath(url), headers: vendorHeaders },
      passOn(response)
    )
    return
  }
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    const body = renamed(JSON.parse(Buffer.concat(chunks).toString()))
    pool.dispatch(
      { method: "POST", path: vendorPath(url), headers: vendorHeaders, body },
      passOn(response)
    )
  })
}).listen(port, "127.0.0.1")
