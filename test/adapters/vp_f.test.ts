import { type VideoSubject, videoAdapterSuite } from "./VideoAdapter.suite.ts"
import { videoSimulatorSuite } from "./VideoSimulator.suite.ts"
import { plainBearer } from "./vendorCall.suite.ts"
import { formsOfVpF } from "./vp_f.forms.ts"

const path = "/api/v1/services/aigc/video-generation/video-synthesis"

const subject: VideoSubject = {
  protocol: "vp_f",
  dialect: { scheme: "Bearer", headers: { "x-dashscope-async": "enable" } },
  pollDialect: plainBearer,
  ...formsOfVpF(path),
  bases: ["", "/", "//", "/relay", "/relay/"].map((base) => {
    const root = base.replace(/\/+$/, "")
    return { base, submit: `${root}${path}`, poll: `${root}/api/v1/tasks/901%2Fa%20b` }
  }),
  cancel: {
    request: "POST /api/v1/tasks/901%2Fa%20b/cancel",
    answers: [
      { says: "a success", reply: { body: { request_id: "r-1" } }, answer: { _tag: "Requested" } },
      {
        says: "a task that is not pending",
        reply: { status: 400, body: { code: "UnsupportedOperation", message: "It runs." } },
        answer: { _tag: "Refused", message: "It runs." }
      }
    ]
  }
}

videoAdapterSuite(subject)

videoSimulatorSuite({
  ...subject,
  model: "x2.7-t2v",
  // The simulated vendor needs a model's kind and version in its id, as the real ones have them.
  wires: subject.wires.filter(({ order }) => order.upstreamModel?.startsWith("x2.")),
  endings: [
    ["sim:fail", "InternalError", ""],
    ["sim:moderate-output", "DataInspectionFailed", ""],
    ["sim:cancel", "cancelled", "The vendor cancelled the task"]
  ],
  usage: {
    completionTokens: null,
    outputSeconds: 5,
    totalSeconds: 5,
    resolution: "720p",
    bill: { amountNano: 5_000_000_000n, unit: "second" }
  }
})
