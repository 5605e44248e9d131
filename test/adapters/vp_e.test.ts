import { videoAdapterSuite } from "./VideoAdapter.suite.ts"
import { formsOfVpE } from "./vp_e.forms.ts"

videoAdapterSuite({
  protocol: "vp_e",
  dialect: { scheme: "Token", headers: {} },
  ...formsOfVpE(""),
  bases: ["", "/", "//", "/relay", "/relay/"].map((base) => {
    const root = base.replace(/\/+$/, "")
    return {
      base,
      submit: `${root}/ent/v2/text2video`,
      poll: `${root}/ent/v2/tasks/901%2Fa%20b/creations`
    }
  })
})
