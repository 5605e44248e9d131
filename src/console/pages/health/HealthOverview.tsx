/** The readiness of the gateway and of its dependencies, its poller and its audits. */
import { Alert, Anchor, Group, Stack, Table, Text, Title } from "@mantine/core"
import { useQuery } from "@tanstack/react-query"
import { Schema } from "effect"
import { useTranslation } from "react-i18next"
import { Link } from "wouter"
import { ReadinessReport } from "../../../http/api/OperationsApi.ts"
import { Facts } from "../../parts/controls/Facts.tsx"
import { StateBadge, type Tone } from "../../parts/controls/StateBadge.tsx"
import { QueryView } from "../../parts/QueryView.tsx"
import { Timestamp } from "../../parts/texts.tsx"
import { sumOf, useSamples } from "./currentMetrics.ts"

type Report = typeof ReadinessReport.Type
type CheckName = keyof Report["checks"]
const names: ReadonlyArray<CheckName> = [
  "store",
  "migrations",
  "poller",
  "audit",
  "deadlines",
  "shutdown"
]

const EVERY_MILLIS = 3_000
const decode = Schema.decodeUnknownPromise(ReadinessReport)

/**
 * A gateway that is not ready responds with 503 and the reasons, so the body is read for any
 * status.
 */
const useReadiness = () =>
  useQuery({
    queryKey: ["readiness"],
    queryFn: async ({ signal }) => {
      const response = await fetch("/readyz", { signal })
      return decode(await response.json())
    },
    refetchInterval: EVERY_MILLIS
  })

const tones: Readonly<Record<Report["checks"][CheckName]["status"], Tone>> = {
  ok: "good",
  failing: "bad",
  pending: "busy"
}
const colors = { ready: "green", degraded: "orange", not_ready: "red" } as const

const Checks = ({ report: { status, checks } }: { readonly report: Report }) => {
  const { t } = useTranslation("health")
  return (
    <Stack>
      <Alert
        color={colors[status]}
        role="status"
        title={
          <Text span inherit c="var(--mantine-color-text)">
            {t(`statuses.${status}`)}
          </Text>
        }
      >
        <Text size="sm">{t(`statusHints.${status}`)}</Text>
      </Alert>
      <Table.ScrollContainer minWidth={320}>
        <Table aria-label={t("checks")} verticalSpacing="xs">
          <Table.Tbody>
            {names.map((name) => (
              <Table.Tr key={name}>
                <Table.Th scope="row" w="40%">
                  {t(`checkNames.${name}`)}
                  <Text size="xs" c="dimmed" fw={400}>
                    {t(`checkHints.${name}`)}
                  </Text>
                </Table.Th>
                <Table.Td>
                  <StateBadge tone={tones[checks[name].status]}>
                    {t(`checkStates.${checks[name].status}`)}
                  </StateBadge>
                  {checks[name].detail === undefined ? null : (
                    <Text size="sm" className="said">
                      {checks[name].detail}
                    </Text>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Stack>
  )
}

/** The mean of a histogram in seconds, since the start of the gateway. */
const meanOf = (sum: number | null, count: number | null): number | null =>
  sum === null || count === null || count === 0 ? null : sum / count

export const HealthOverview = () => {
  const { t, i18n } = useTranslation("health")
  const { t: shell } = useTranslation()
  const readiness = useReadiness()
  const samples = useSamples()
  const formatValue = (value: number | null, text: (valueText: string) => string = String) =>
    value === null
      ? t("noValue")
      : text(value.toLocaleString(i18n.language, { maximumFractionDigits: 3 }))
  const seconds = (valueText: string) => t("units.seconds", { value: valueText })
  const lag = "gateway_task_completion_lag_seconds"
  const auditSeconds = sumOf(samples, "gateway_ledger_audit_timestamp_seconds") ?? 0
  const violations = sumOf(samples, "gateway_ledger_violations")
  const poller = readiness.data?.checks.poller.status
  return (
    <Stack gap="lg">
      <Stack gap="xs">
        <Title order={2} size="h4">
          {t("readiness")}
        </Title>
        <QueryView query={readiness} lines={6}>
          {(report) => <Checks report={report} />}
        </QueryView>
      </Stack>
      <Stack gap="xs">
        <Title order={2} size="h4">
          {t("poller")}
        </Title>
        <Facts
          facts={[
            {
              name: t("pulse"),
              value: poller === undefined ? t("noValue") : t(`pulses.${poller}`)
            },
            {
              name: t("metrics.openTasks"),
              value: formatValue(sumOf(samples, "gateway_open_tasks"))
            },
            {
              name: t("meanLag"),
              value: formatValue(
                meanOf(sumOf(samples, `${lag}_sum`), sumOf(samples, `${lag}_count`)),
                seconds
              )
            },
            {
              name: t("metrics.lateHolds"),
              value: formatValue(sumOf(samples, "gateway_late_holds"))
            },
            {
              name: t("oldestLate"),
              value: formatValue(sumOf(samples, "gateway_oldest_late_hold_seconds"), seconds)
            },
            {
              name: t("strangeWords"),
              value: formatValue(sumOf(samples, "gateway_vendor_strange_status_total") ?? 0)
            }
          ]}
        />
      </Stack>
      <Stack gap="xs">
        <Title order={2} size="h4">
          {t("audits")}
        </Title>
        <Facts
          facts={[
            {
              name: t("lastAudit"),
              value:
                auditSeconds === 0 ? (
                  t("notYet")
                ) : (
                  <Timestamp at={new Date(auditSeconds * 1000).toISOString()} />
                )
            },
            {
              name: t("auditResult"),
              value:
                auditSeconds === 0
                  ? t("notYet")
                  : violations === 0
                    ? t("sound")
                    : t("violations", { count: violations ?? 0 })
            },
            {
              name: t("stoppedOrganizations"),
              value: formatValue(sumOf(samples, "gateway_stopped_organizations"))
            }
          ]}
        />
        <Group>
          <Anchor component={Link} href="~/console/books/verify" size="sm">
            {`${shell("pages.books")}: ${t("verifyThere")}`}
          </Anchor>
        </Group>
      </Stack>
    </Stack>
  )
}
