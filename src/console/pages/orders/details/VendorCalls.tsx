/** The calls to vendors for one order; the bodies of each call can be opened. */
import { Accordion, Code, Group, Stack, Text } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { Id, Timestamp } from "../../../parts/texts.tsx"
import { useLength } from "../orderMarks.tsx"
import { Facts } from "./orderFrame.tsx"
import type { OrderHistory } from "./timelineLife.ts"

const INDENT = 2

/**
 * A value of a vendor as JSON text. The value is always shown as text, so it cannot inject markup.
 */
export const JsonText = ({ label, value }: { readonly label: string; readonly value: unknown }) => {
  const { t } = useTranslation("orders")
  return (
    <Stack gap={4}>
      <Text size="sm" fw={500}>
        {label}
      </Text>
      {value === null || value === undefined ? (
        <Text size="sm" c="dimmed">
          {t("calls.nothing")}
        </Text>
      ) : (
        <Code
          block
          className="said"
          role="group"
          tabIndex={0}
          aria-label={label}
          mah={360}
          style={{ overflow: "auto" }}
        >
          {typeof value === "string" ? value : JSON.stringify(value, null, INDENT)}
        </Code>
      )}
    </Stack>
  )
}

type Call = OrderHistory["upstream_calls"][number]

const Head = ({ call }: { readonly call: Call }) => {
  const { t } = useTranslation("orders")
  const length = useLength()
  const { purpose, channel, status, duration_ms, repeats, started_at } = call
  return (
    <Group gap="2px 16px">
      <Text span size="sm" fw={600}>
        {t(`calls.purposes.${purpose}`)}
      </Text>
      <Text span size="sm">
        {status === null ? t("calls.noAnswer") : `HTTP ${status}`}
      </Text>
      <Text span size="sm" className="amount">
        {length(duration_ms)}
      </Text>
      {repeats > 1 ? (
        <Text span size="sm">
          {t("calls.times", { n: repeats })}
        </Text>
      ) : null}
      <Text span size="sm">
        {channel}
      </Text>
      <Text span size="sm" c="dimmed">
        <Timestamp at={started_at} />
      </Text>
    </Group>
  )
}

interface Props {
  readonly calls: ReadonlyArray<Call>
  readonly total: number
}

export const VendorCalls = ({ calls, total }: Props) => {
  const { t } = useTranslation("orders")
  if (calls.length === 0) return <Text c="dimmed">{t("calls.none")}</Text>
  return (
    <Stack gap="xs">
      {total > calls.length ? (
        <Text size="sm" c="dimmed">
          {t("calls.some", { shown: calls.length, total })}
        </Text>
      ) : null}
      <Accordion multiple variant="contained" chevronPosition="left" order={3}>
        {calls.map((call) => (
          <Accordion.Item key={call.id} value={call.id}>
            <Accordion.Control>
              <Head call={call} />
            </Accordion.Control>
            <Accordion.Panel>
              <Stack gap="sm">
                <Facts
                  label={t("calls.address")}
                  facts={{
                    [t("calls.address")]:
                      call.url === null ? null : `${call.method ?? ""} ${call.url}`,
                    [t("calls.failure")]: call.failure,
                    [t("calls.until")]: call.repeats > 1 ? <Timestamp at={call.last_at} /> : null,
                    [t("calls.bytes")]: call.bytes === null ? null : String(call.bytes),
                    [t("calls.requestId")]:
                      call.request_id === null ? null : <Id id={call.request_id} />
                  }}
                />
                <JsonText label={t("calls.request")} value={call.request} />
                <JsonText label={t("calls.answer")} value={call.answer} />
              </Stack>
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
    </Stack>
  )
}
