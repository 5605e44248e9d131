/** The steps of an image order, at each of which a gateway of the ladder answers. */

/** The steps in their order. */
export const stepNames = ["edge", "access", "body", "price", "order", "vendor", "ledger"] as const
export type Step = (typeof stepNames)[number]

interface StepFacts {
  /** What the step does beyond the one before it. */
  readonly does: string
  /**
   * The processor time that the step may take, in that of a bare proxy for the same request, so that
   * the budget fits every machine.
   */
  readonly budget: number
}

export const steps: Readonly<Record<Step, StepFacts>> = {
  edge: { does: "socket, envelope, metrics, router", budget: 0.5 },
  access: { does: "key, rates, permits", budget: 0.4 },
  body: { does: "body read and decoded", budget: 0.5 },
  price: { does: "model, mounts, price", budget: 0.2 },
  order: { does: "the other steps of the order", budget: 0.8 },
  vendor: { does: "the vendor's call over HTTP", budget: 1 },
  ledger: { does: "hold and capture", budget: 0.4 }
}
