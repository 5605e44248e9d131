import { videoAdapterSuite } from "./VideoAdapter.suite.ts"
import { plainBearer } from "./vendorCall.suite.ts"
import { formsOfVpF } from "./vp_f.forms.ts"

const path = "/api/v1/services/aigc/video-generation/video-synthesis"

videoAdapterSuite({
  protocol: "vp_f",
  dialect: { scheme: "Bearer", headers: { "x-dashscope-async": "enable" } },
  pollDialect: plainBearer,
  ...formsOfVpF(path),
  bases: ["", "/", "//", "/relay", "/relay/"].map((base) => {
    const root = base.replace(/\/+$/, "")
    return { base, submit: `${root}${path}`, poll: `${root}/api/v1/tasks/901%2Fa%20b` }
  })
})
