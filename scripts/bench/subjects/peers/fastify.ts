/**
 * A proxy as most developers would write it: a Fastify server with `undici`. The package is in the
 * scratch folder.
 */
import { createRequire } from "node:module"
import { join } from "node:path"
import type { Readable } from "node:stream"
import { Agent, request, setGlobalDispatcher } from "undici"
import { port, renamed, vendorHeaders, vendorPath, vendorUrl } from "./forwarding.ts"

/**
 * The part of the package that is used here; the package is not installed where types are checked.
 */
interface Reply {
  code(status: number): Reply
  header(name: string, value: string | ReadonlyArray<string>): Reply
  send(body: Readable | string): Reply
}
interface Call {
  readonly url: string
  readonly body: object
}
type Handler = (call: Call, reply: Reply) => Promise<Reply>
interface Server {
  get(path: string, handler: Handler): void
  post(path: string, handler: Handler): void
  listen(where: { readonly port: number; readonly host: string }): Promise<string>
}

const load = createRequire(join(process.env.BENCH_SCRATCH ?? "", "package.json"))
const fastify: () => Server = load("fastify")

setGlobalDispatcher(new Agent({ connections: 1024, pipelining: 1 }))

const forward = async (method: "GET" | "POST", call: Call, reply: Reply): Promise<Reply> => {
  const answer = await request(vendorUrl + vendorPath(call.url), {
    method,
    headers: vendorHeaders,
    ...(method === "POST" ? { body: renamed(call.body) } : {})
  })
  const { "content-type": type, "content-length": length } = answer.headers
  reply.code(answer.statusCode)
  if (type !== undefined) reply.header("content-type", type)
  if (length !== undefined) reply.header("content-length", length)
  return reply.send(answer.body)
}

const server = fastify()
server.get("/healthz", async (_, reply) => reply.send("ok"))
server.get("/v1/*", (call, reply) => forward("GET", call, reply))
server.post("/v1/*", (call, reply) => forward("POST", call, reply))
await server.listen({ port, host: "127.0.0.1" })
