/** A balancer before two gateways: the real HAProxy with our file, or a stand-in where there is none. */
import { existsSync } from "node:fs"
import { connect, createServer, type Socket } from "node:net"
import { delimiter, join } from "node:path"
import { Effect, Exit } from "effect"
import { call } from "./http.ts"
import { freePort } from "./postgresServer.ts"
import { startProcess } from "./processes.ts"

const inPath = (process.env.PATH ?? "")
  .split(delimiter)
  .concat("/usr/sbin")
  .map((folder) => join(folder, "haproxy"))

/** Path of HAProxy: as HAPROXY names it, or found where programs are; undefined where there is none. */
const haproxy = process.env.HAPROXY ?? inPath.find((file) => existsSync(file))

export const balancerName = haproxy === undefined ? "a stand-in for HAProxy" : "the real HAProxy"

/** Asks each gateway for its readiness every second, as the file of HAProxy does. */
const standIn = Effect.fnUntraced(function* (ports: ReadonlyArray<number>, port: number) {
  const ready = new Set<number>()
  const probe = (target: number) =>
    Effect.map(Effect.exit(call(`http://127.0.0.1:${target}/readyz`)), (exit) => {
      if (Exit.isSuccess(exit) && exit.value.status === 200) ready.add(target)
      else ready.delete(target)
    }).pipe(Effect.delay("1 second"), Effect.forever)
  yield* Effect.forEach(ports, (target) => Effect.forkScoped(probe(target)), { discard: true })
  const sockets = new Set<Socket>()
  let turn = 0
  const serve = (client: Socket) => {
    const targets = [...ready]
    const target = targets[turn++ % targets.length]
    if (target === undefined) {
      client.destroy()
      return
    }
    const server = connect(target, "127.0.0.1")
    for (const [from, to] of [
      [client, server],
      [server, client]
    ] as const) {
      sockets.add(from)
      from.on("error", () => to.destroy()).on("close", () => sockets.delete(from))
      from.pipe(to)
    }
  }
  const listener = createServer(serve)
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      listener.listen(port, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.sync(() => {
        for (const socket of sockets) socket.destroy()
        listener.close()
      })
  )
})

/** Starts it before gateways at the ports; answers its address when one of them is ready. */
export const startBalancer = Effect.fnUntraced(function* (
  file: string,
  [one, two]: readonly [number, number]
) {
  const port = yield* Effect.promise(freePort)
  if (haproxy === undefined) yield* standIn([one, two], port)
  else {
    yield* startProcess({
      entry: file,
      command: [haproxy, "-db", "-f"],
      env: {
        BALANCER_BIND: `127.0.0.1:${port}`,
        GATEWAY_ONE: `127.0.0.1:${one}`,
        GATEWAY_TWO: `127.0.0.1:${two}`
      }
    })
  }
  const url = `http://127.0.0.1:${port}`
  yield* Effect.exit(call(`${url}/readyz`)).pipe(
    Effect.delay("100 millis"),
    Effect.repeat({ until: (exit) => Exit.isSuccess(exit) && exit.value.status === 200 }),
    Effect.timeout("30 seconds")
  )
  return url
})
