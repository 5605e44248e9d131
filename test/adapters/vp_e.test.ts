import { type VideoSubject, videoAdapterSuite } from "./VideoAdapter.suite.ts"
import { videoSimulatorSuite } from "./VideoSimulator.suite.ts"
import { formsOfVpE } from "./vp_e.forms.ts"

const subject: VideoSubject = {
  protocol: "vp_e",
  dialect: { scheme: "Token", headers: {} },
  ...formsOfVpE(""),
  bases: [
    "",
    "/",
    "//",
    "/relay",
    "/relay/",
    "/ent/v2",
    "/ent/v2/",
    "/ent/v2//",
    "/relay/ent/v2"
  ].map((base) => {
    const root = base.replace(/\/+$/, "").replace("/ent/v2", "")
    return {
      base,
      submit: `${root}/ent/v2/text2video`,
      poll: `${root}/ent/v2/tasks/901%2Fa%20b/creations`
    }
  })
}

videoAdapterSuite(subject)

videoSimulatorSuite({
  ...subject,
  endings: [
    ["sim:fail", "InternalServiceFailure", "The vendor failed to make the video"],
    ["sim:moderate-output", "CreationPolicyViolation", "The vendor failed to make the video"]
  ],
  usage: {
    completionTokens: null,
    outputSeconds: null,
    bill: { amountNano: 20_000_000_000n, unit: "credit" }
  }
})
