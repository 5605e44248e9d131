/** The steps of an image order, at each of which a gateway of the ladder answers. */

/** The steps in their order. */
export const stepNames = ["edge", "access", "body", "price", "order", "vendor", "ledger"] as const
export type Step = (typeof stepNames)[number]

interface StepFacts {
  /** What the step does beyond the one before it. */
  readonly does: string
  /** The processor time of the gateway that the step may take, in microseconds. */
  readonly budget: number
}

export const steps: Readonly<Record<Step, StepFacts>> = {
  edge: { does: "socket, envelope, metrics, router", budget: 20 },
  access: { does: "key, rates, permits", budget: 15 },
  body: { does: "body read and decoded", budget: 20 },
  price: { does: "model, mounts, price", budget: 15 },
  order: { does: "the other steps of the order", budget: 40 },
  vendor: { does: "the vendor's call over HTTP", budget: 40 },
  ledger: { does: "hold and capture", budget: 30 }
}
