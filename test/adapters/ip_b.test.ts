import { type ImageSubject, imageAdapterSuite } from "./ImageAdapter.suite.ts"
import { imageSimulatorSuite } from "./ImageSimulator.suite.ts"
import { formsOfMessages } from "./messages.forms.ts"
import { plainBearer } from "./vendorCall.suite.ts"

const path = "/api/v1/services/aigc/multimodal-generation/generation"

const subject: ImageSubject = {
  protocol: "ip_b",
  dialect: plainBearer,
  channelPath: "/relay",
  ...formsOfMessages(`/relay${path}`),
  bases: [
    { base: "", target: path },
    { base: "/", target: path },
    { base: "//", target: path },
    { base: "/relay/", target: `/relay${path}` }
  ]
}

imageAdapterSuite(subject)

imageSimulatorSuite({ ...subject, ...formsOfMessages(path), version: "" })
