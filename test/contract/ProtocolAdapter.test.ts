import { Effect, Layer } from "effect"
import { demoCatalog } from "../../src/demoCatalog.ts"
import { textOf } from "../../src/domain/video/VideoInput.ts"
import { countOf, isOn, readSwitches, refusedStatus } from "../../src/simulator/switches.ts"
import {
  layerAdaptersScripted,
  layerSimulatorTesting,
  ScriptedVendors,
  Simulator,
  vendor
} from "../../src/testing/doubles.ts"
import { layerOverSockets } from "../adapters/support.ts"
import { protocolAdapterSuite, type Spoken } from "./ProtocolAdapter.suite.ts"

const { models, mounts } = demoCatalog("")

const usual: Readonly<Record<string, Spoken["usual"]>> = {
  veo: { seconds: 8 },
  minimax: { resolution: "768p" }
}

/** The bytes of its images are longer than an answer may be in these tests. */
const answersBytes: ReadonlySet<string> = new Set(["gemini"])

/** The demo models that are made from text alone, one a protocol. */
const spoken = (modality: "video" | "image"): ReadonlyArray<Spoken> => {
  const ways = models
    .filter((model) => model.modality === modality && model.input_forms?.includes("text"))
    .filter(({ protocol }) => !answersBytes.has(protocol))
    .map(({ id, protocol }) => {
      const mount = mounts.find(({ model }) => model === id)
      return {
        protocol: mount?.protocol ?? protocol,
        listedProtocol: protocol,
        upstreamModel: mount?.upstream_model ?? id,
        ...(usual[protocol] === undefined ? {} : { usual: usual[protocol] })
      }
    })
  return [...Map.groupBy(ways, ({ protocol }) => protocol).values()].flatMap(([way]) => way ?? [])
}

const everyProtocol = { video: spoken("video"), image: spoken("image") }

/** What the simulator would do with the words of the prompt, where orders of every kind fail alike. */
const failing = (prompt: string) => {
  const words = readSwitches(prompt)
  const status = refusedStatus(words)
  if (status !== undefined) return vendor.refuses({ status })
  return isOn(words, "lost") ? vendor.isLost() : null
}

const scriptOf = (prompt: string) => {
  const words = readSwitches(prompt)
  const polls = countOf(words, "slow", 1)
  if (isOn(words, "forget")) return vendor.forgets()
  return isOn(words, "fail") ? vendor.fails({ polls }) : vendor.succeeds({ polls })
}

protocolAdapterSuite(
  "scripted adapters",
  {
    vendors: layerAdaptersScripted({
      videos: ({ order }) => failing(textOf(order.blocks)) ?? scriptOf(textOf(order.blocks)),
      images: ({ order }) => failing(order.body.prompt) ?? vendor.makes()
    }),
    baseUrl: (protocol) => Effect.succeed(`http://vendors.test/${protocol}`),
    jobs: Effect.flatMap(ScriptedVendors, ({ jobs }) => jobs)
  },
  everyProtocol
)

protocolAdapterSuite(
  "live adapters before the simulator",
  {
    vendors: Layer.merge(layerOverSockets, layerSimulatorTesting),
    baseUrl: (protocol) =>
      Effect.map(Simulator, ({ url }) => `${url}/${protocol}${protocol === "ip_a" ? "/v1" : ""}`),
    jobs: Effect.map(
      Effect.flatMap(Simulator, ({ book }) => book),
      (book) => book.filter(({ event }) => event === "accepted").length
    )
  },
  everyProtocol
)
