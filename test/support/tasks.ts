/** Running tasks, and claims of them, for tests that speak to the store itself. */
import { Effect, Layer, Option } from "effect"
import { DEFAULT_KEY } from "../../src/domain/catalog/channelKeys.ts"
import { defaultSettings, Settings } from "../../src/runtime/Settings.ts"
import { Access } from "../../src/services/Access.ts"
import { Ledger } from "../../src/services/Ledger.ts"
import {
  type ClaimedTask,
  type NewTask,
  TaskRepo,
  type UpstreamTask
} from "../../src/services/TaskRepo.ts"

/** A task may be claimed again a millisecond after it was asked for. */
export const layerEager = Layer.succeed(Settings, { ...defaultSettings, askIntervalSeconds: 0.001 })

export const quote = {
  kind: "second_video",
  resolution: "720p",
  outputSeconds: 5,
  nanoPerSecond: "1",
  holdNano: "5"
}

let minted = 0

/** Tasks of a fresh organisation whose vendor has not answered yet; their ids. */
export const submittedTasks = Effect.fnUntraced(function* (
  channelId: string,
  count: number,
  { ttlSeconds = 3600, ...fields }: Partial<NewTask> & { readonly ttlSeconds?: number } = {}
) {
  const access = yield* Access
  const ledger = yield* Ledger
  const organizationId = yield* access.createOrganization("Test")
  yield* ledger.deposit(organizationId, 1_000_000n, "first")
  const member = { name: "m", monthlyCapNano: null }
  const memberId = yield* access.createMember(organizationId, member)
  const ids: Array<string> = []
  for (let index = 0; index < count; index++) {
    const id = `vt_00000000-0000-7000-8000-${String(minted++).padStart(12, "0")}`
    yield* ledger.hold({
      organizationId,
      memberId,
      keyId: "k",
      model: "m",
      modality: "video",
      id,
      amountNano: 5n,
      ttlSeconds,
      quote,
      job: { channelId, protocol: "vp_d", upstreamModel: "u" },
      task: { listedProtocol: "vp_d", summary: {}, submitSeconds: 60, ...fields },
      key: null
    })
    ids.push(id)
  }
  return { organizationId, ids }
})

/** Tasks of a fresh organisation that run on the channel and are due at once; their ids. */
export const dueTasks = Effect.fnUntraced(function* (
  channelId: string,
  count: number,
  ttlSeconds = 3600
) {
  const repo = yield* TaskRepo
  const { organizationId, ids } = yield* submittedTasks(channelId, count, { ttlSeconds })
  for (const id of ids) yield* repo.accept(organizationId, id, upstream(`up-${id}`), 0)
  return { organizationId, ids }
})

let vendors = 0

/** A task as its vendor knows it, made with the only key of its channel; each time by another vendor. */
export const upstream = (upstreamId: string): UpstreamTask => ({
  upstreamId,
  accountVersion: 1,
  keyName: DEFAULT_KEY,
  origin: `http://vendor-${vendors++}.test`
})

export const claimDue = (
  limit: number,
  perChannel: number,
  asked: ReadonlyArray<[string, number]> = []
) =>
  Effect.flatMap(TaskRepo, (repo) =>
    repo.claimDue({ limit, perChannel, openByChannel: new Map(asked) })
  )

/** Claims the task as a reader does, once the ask interval is over. */
export const claimAgain = (organizationId: string, id: string) =>
  Effect.flatMap(TaskRepo, (repo) =>
    repo
      .claim(organizationId, id)
      .pipe(
        Effect.repeat({ until: Option.isSome }),
        Effect.flatMap(Effect.fromOption),
        Effect.orDie
      )
  )

/** Claims what other tests left due, so that a claim's size is the test's own. */
export const claimTheRest = claimDue(1000, 1000)

export const byChannel = (tasks: ReadonlyArray<ClaimedTask>) =>
  Object.fromEntries(
    [...Map.groupBy(tasks, ({ channelId }) => channelId)].map(([id, { length }]) => [id, length])
  )
