/** Starts all subjects. Each except the vendor is stopped (SIGSTOP) until its turn. */
import { Console, Effect } from "effect"
import { startOurs } from "./ours.ts"
import { installPeers, startPeer } from "./peers/peers.ts"
import { checkOut } from "./revision.ts"
import { type Subject, signal } from "./subject.ts"
import type { World } from "./world.ts"

/** Starts two processes of each revision in the order A B B A; the rounds rotate it. */
const startRevisions = Effect.fnUntraced(function* (
  world: World,
  entry: string,
  compare: string | null
) {
  const ours = startOurs(world, { name: "ours", entry, profile: world.options.profile })
  if (compare === null) return [yield* ours]
  const other = startOurs(world, yield* checkOut(compare, world.options.scratch))
  return [yield* ours, yield* other, yield* other, yield* ours]
})

export const startSubjects = Effect.fnUntraced(function* (
  world: World,
  entry: string,
  isSharedWanted: boolean
) {
  const { options, vendor } = world
  const peers = (["durable", "portkey", "bare", "fastify"] as const).filter((kind) =>
    options.subjects.has(kind)
  )
  if (peers.some((kind) => kind !== "bare")) yield* installPeers(options.scratch)
  const ourselves = options.subjects.has("ours")
    ? yield* startRevisions(world, entry, options.compare)
    : []
  if (isSharedWanted && options.subjects.has("ours")) {
    if (process.platform === "linux") {
      ourselves.push(yield* startOurs(world, { name: "1 gateway", entry, sharing: 1 }))
      ourselves.push(yield* startOurs(world, { name: "2 gateways", entry, sharing: 2 }))
    } else {
      yield* Console.error("gateways cannot share a port on this system")
    }
  }
  const others: Array<Subject> = []
  for (const kind of peers) others.push(yield* startPeer(kind, world, true))
  const direct: Subject = {
    name: "direct",
    kind: "direct",
    url: vendor.url,
    entry: "",
    processes: [],
    books: null,
    headers: { "content-type": "application/json", authorization: "Bearer vendor-key" },
    model: (id) => `vendor-${id}`
  }
  if (options.subjects.has("direct")) others.push(direct)
  const subjects = [...ourselves, ...others]
  yield* Effect.forEach(subjects, (subject) => signal(subject, "SIGSTOP"))
  return { ourselves, subjects }
})
