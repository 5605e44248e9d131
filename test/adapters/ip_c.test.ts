import { lost, refused } from "./failures.ts"
import { imageAdapterSuite } from "./ImageAdapter.suite.ts"
import { imageSimulatorSuite } from "./ImageSimulator.suite.ts"
import { formsOfMessages } from "./messages.forms.ts"
import { plainBearer } from "./vendorCall.suite.ts"

const messagesPath = "/qwen/api/v1/services/aigc/image-generation/generation"
const standardPath = "/doubao/v1/images/generations"

const basesOf = (target: string) =>
  ["", "/", "//", "/v1", "/v1/", "/v1//", "//v1"].map((base) => ({ base, target }))

imageAdapterSuite({
  protocol: "ip_c",
  name: "ip_c, messages",
  dialect: plainBearer,
  channelPath: "/v1",
  ...formsOfMessages(messagesPath),
  bases: basesOf(messagesPath)
})

imageSimulatorSuite({
  protocol: "ip_c",
  upstreamModel: "m-1",
  wires: formsOfMessages(messagesPath).wires,
  version: "/v1"
})

const created = 1767225600
const image = { url: "https://files.test/1.png" }
const noPermission = { error: { message: "No permission", code: "forbidden" } }

imageAdapterSuite({
  protocol: "ip_c",
  name: "ip_c, standard form",
  dialect: plainBearer,
  channelPath: "/v1",
  upstreamModel: "doubao-picture-4",
  wires: [
    {
      says: "a prompt alone asks for one image",
      body: { prompt: "a lighthouse" },
      path: standardPath,
      wire: { model: "doubao-picture-4", prompt: "a lighthouse", n: 1 }
    },
    {
      says: "every other field goes out unchanged",
      body: {
        prompt: "a lighthouse",
        n: 3,
        size: "1024x1024",
        response_format: "b64_json",
        image: "https://x.test/1.png",
        parameters: { n: 9 }
      },
      path: standardPath,
      wire: {
        model: "doubao-picture-4",
        prompt: "a lighthouse",
        n: 3,
        size: "1024x1024",
        response_format: "b64_json",
        image: "https://x.test/1.png",
        parameters: { n: 9 }
      }
    },
    {
      says: "a number of null goes out as one",
      body: { prompt: "a lighthouse", n: null },
      path: standardPath,
      wire: { model: "doubao-picture-4", prompt: "a lighthouse", n: 1 }
    }
  ],
  bases: basesOf(standardPath),
  good: { created, data: [image] },
  results: [
    {
      says: "addresses and base64 pass",
      reply: { created, data: [image, { b64_json: "iVBORw0KGgo=" }] },
      result: { created, data: [image, { b64_json: "iVBORw0KGgo=" }] }
    }
  ],
  failures: [
    {
      says: "an error in an HTTP 200 is a refusal",
      reply: { body: noPermission },
      failure: refused(200, noPermission, { effectiveStatus: 502, message: "No permission" })
    },
    {
      says: "an answer without an image is lost",
      reply: { body: { created, data: [] } },
      failure: lost("broken_answer", 200)
    }
  ]
})
