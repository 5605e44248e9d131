/** Small plots of the metrics of the last minutes, each with its current values as text. */
import { Card, Group, SimpleGrid, Skeleton, Stack, Text, Title } from "@mantine/core"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { FailureNote } from "../../parts/FailureNote.tsx"
import { TimePlot } from "../../parts/TimePlot.tsx"
import { type PlottedMetric, plotMetrics } from "./metricReaders.ts"
import type { Scrapes } from "./scrapes.ts"

const HEIGHT = 150
/** The number of decimal places. Metrics are no billed amounts, so three are enough. */
const DIGITS = 3

const Metric = ({
  metric: { name, unit, lines },
  times
}: {
  readonly metric: PlottedMetric
  readonly times: ReadonlyArray<number>
}) => {
  const { t, i18n } = useTranslation("health")
  const shownValue = (value: number | null | undefined): string =>
    value === null || value === undefined
      ? t("noValue")
      : t(`units.${unit}`, {
          value: value.toLocaleString(i18n.language, { maximumFractionDigits: DIGITS })
        })
  const title = t(`metrics.${name}`)
  const match = useMemo(
    () => lines.map(({ label, values }) => ({ label: label === "" ? title : label, values })),
    [lines, title]
  )
  return (
    <Card withBorder padding="sm">
      <Stack gap={4}>
        <Title order={3} size="h5">
          {title}
        </Title>
        <Group gap="xs" component="ul" m={0} p={0} style={{ listStyle: "none" }}>
          {lines.map(({ label, values }) => (
            <Text key={label} component="li" size="sm">
              {label === "" ? null : (
                <Text span c="dimmed">
                  {label}{" "}
                </Text>
              )}
              <Text span fw={600} className="amount">
                {shownValue(values.at(-1))}
              </Text>
            </Text>
          ))}
        </Group>
        <div className={match.length < 2 ? "plain" : ""}>
          <TimePlot label={title} times={times} lines={match} height={HEIGHT} />
        </div>
      </Stack>
    </Card>
  )
}

export const MetricPlots = ({ query, scrapes }: Scrapes) => {
  const { t } = useTranslation("health")
  const metricPlots = useMemo(() => plotMetrics(scrapes), [scrapes])
  const times = useMemo(() => scrapes.map(({ at }) => at), [scrapes])
  return (
    <Stack>
      <Title order={2}>{t("tabs.metrics")}</Title>
      <Text c="dimmed" size="sm">
        {t("metricsLead")}
      </Text>
      {query.isError ? (
        <FailureNote error={query.error} onRetry={() => void query.refetch()} />
      ) : null}
      {query.isPending ? <Skeleton height={HEIGHT} /> : null}
      <SimpleGrid cols={{ base: 1, md: 2, xl: 3 }}>
        {metricPlots.map((metric) => (
          <Metric key={metric.name} metric={metric} times={times} />
        ))}
      </SimpleGrid>
    </Stack>
  )
}
