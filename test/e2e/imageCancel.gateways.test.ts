/**
 * A cancel of images over two gateways, of which one is killed: the vendor's answer ends the task at
 * the other one. Simulated worlds kill a gateway at the other moments of a cancel.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Simulator } from "../../src/simulator/Simulator.ts"
import { type GatewayNode, startGateway } from "../support/cluster.ts"
import { sharedKind } from "../support/databases.ts"
import { prepareCustomer, processEnvironment, settledBalance } from "../support/gatewayProcesses.ts"
import { call } from "../support/http.ts"
import { awaitJob } from "../support/operator.ts"
import { layerSurvivor, Survivor } from "../support/survivor.ts"
import { textCatalog } from "../support/textCatalog.ts"

const catalogFor = (simulatorUrl: string) => {
  const catalog = textCatalog()(simulatorUrl)
  const channel = { id: "ch-f", name: "F", base_url: `${simulatorUrl}/fal`, api_key: "key-f" }
  const prices = { kind: "image", per_image: "0.2" } as const
  const model = { id: "paint-fal", modality: "image" as const, protocol: "fal", prices }
  return {
    ...catalog,
    channels: [...catalog.channels, channel],
    models: [...catalog.models, model],
    mounts: [
      ...catalog.mounts,
      { model: "paint-fal", channel: "ch-f", upstream_model: "fal-ai/flux/dev" }
    ]
  }
}

const Accepted = Schema.Struct({ id: Schema.String })

/** A customer, who orders images that stay in the vendor's queue, and cancels them. */
const makeOrder = Effect.fnUntraced(function* (runner: GatewayNode) {
  const simulator = yield* Simulator
  const { key, organizationPath } = yield* prepareCustomer(runner, "100", catalogFor(simulator.url))
  const creation = yield* call(`${runner.url}/v1/images/generations`, {
    key,
    headers: { prefer: "respond-async" },
    json: { model: "paint-fal", prompt: "a lighthouse sim:waits" }
  })
  const { id } = yield* Schema.decodeUnknownEffect(Accepted)(creation.body)
  yield* awaitJob(runner, id)
  return {
    id,
    cancel: ({ url }: GatewayNode) =>
      call(`${url}/v1/images/${id}/cancel`, { method: "POST", key }),
    /** The task at its end, and what is left of 100. */
    end: Effect.fnUntraced(function* (reader: GatewayNode) {
      const task = yield* call(`${reader.url}/v1/images/${id}?wait=30`, { key })
      return { task: task.body, balance: yield* settledBalance(reader, organizationPath) }
    })
  }
})

const cancelledTask = (id: string) => ({
  task: {
    id,
    task_status: "failed",
    error: { code: "cancelled", message: "The vendor cancelled the task" }
  },
  balance: "100"
})

/** A cancel is answered before the run asks again, so that who hears the vendor's word first is certain. */
const environment = Effect.map(processEnvironment(sharedKind), (env) => ({
  ...env,
  GATEWAY_ASK_INTERVAL_SECONDS: "2"
}))

layer(layerSurvivor(environment), {
  excludeTestServices: true,
  timeout: "60 seconds"
})("images that are cancelled over two gateways", (it) => {
  it.effect("one gateway did both and is killed: a second cancel ends the task", () =>
    Effect.gen(function* () {
      const { env, gateway } = yield* Survivor
      const both = yield* startGateway({ ...env, KILL_AT: "image.cancelled" })
      const { cancel, end, id } = yield* makeOrder(both)
      yield* Effect.forkChild(Effect.exit(cancel(both)))
      assert.strictEqual((yield* both.process.end).signal, "SIGKILL")
      yield* cancel(gateway)
      assert.deepEqual(yield* end(gateway), cancelledTask(id))
    })
  )
})
