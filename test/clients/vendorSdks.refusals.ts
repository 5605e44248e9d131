export type Refusals = Readonly<Record<string, ReadonlyArray<string>>>
export const atVendor: Refusals = {}
export const atGateway: Refusals = {}
