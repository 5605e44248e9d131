/** One worker's share of what a configuration allows its gateway. */
import type { GatewayConfig } from "../config.ts"

/**
 * The bounds hold for all workers together: each has its part of the connections, to clients and to
 * the database, of what is in flight, of the memory for bodies, and of what is refused. A part is rounded up, so that
 * none is without any.
 */
export const shareOf = (config: GatewayConfig): GatewayConfig => {
  const part = (whole: number): number => Math.ceil(whole / config.workers)
  const { settings } = config
  return {
    ...config,
    databasePool: part(config.databasePool),
    settings: {
      ...settings,
      organizationInFlight: part(settings.organizationInFlight),
      organizationWaits: part(settings.organizationWaits),
      channelInFlight: part(settings.channelInFlight),
      pollsPerChannel: part(settings.pollsPerChannel),
      bodyBudgetBytes: part(settings.bodyBudgetBytes),
      maxConnections: part(settings.maxConnections),
      keyRefusalsPerMinute: part(settings.keyRefusalsPerMinute),
      addressUnknownKeysPerMinute: part(settings.addressUnknownKeysPerMinute)
    }
  }
}
