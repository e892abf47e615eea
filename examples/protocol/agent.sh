#!/usr/bin/env bash
# A complete agent for runner-e2e: it does what the "key: value" lines of its text say.
set -euo pipefail

orders=$RUNNER_E2E_PROMPT_FILE
known=$RUNNER_E2E_STATE_DIR/orders
cause=$(sed -E 's/.*"cause":"([a-z_]+)".*/\1/' "$RUNNER_E2E_TURN_FILE")

order() { sed -n "s/^$1: //p" "$2" | tail -n 1; }
has() { grep -q "^$1: " "$2"; }
quoted() { printf '"%s"' "$(sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' <<<"$1")"; }
emit() { printf '%s\n' "$1" >>"$RUNNER_E2E_EVENTS"; }
say() { emit "{\"type\": \"message\", \"text\": $(quoted "$1")}"; }
call() { emit "{\"type\": \"tool_request\", \"tool\": $(quoted "$1"), \"arguments\": {\"to\": $(quoted "$2")}}"; }

plan() {
  local body="# $1" number
  for ((number = 1; number <= $2; number++)); do body+="\\n$number. Step"; done
  emit "{\"type\": \"plan\", \"body\": \"$body\"}"
}

ask() {
  local options=${2//, /\", \"}
  emit "{\"type\": \"question\", \"id\": \"colour\", \"prompt\": $(quoted "$1"), \"options\": [\"$options\"]}"
}

{ cat "$orders"; echo; } >>"$known"
case $cause in
  assigned | rejected | message)
    if has append "$orders"; then order append "$orders" >>"$(order file "$orders")"; fi
    if has status "$orders"; then emit "{\"type\": \"status\", \"issue\": $(quoted "$(order status "$orders")")}"; fi
    if has plan "$orders"; then plan "$(order plan "$orders")" "$(order steps "$orders")"; fi
    if has ask "$orders"; then ask "$(order ask "$orders")" "$(order options "$orders")"; fi
    if has call "$orders"; then call "$(order call "$orders")" "$(order to "$orders")"; fi
    if has say "$orders"; then say "$(order say "$orders")"; fi
    ;;
  *)
    if [[ $cause == tool_executed ]] && has again "$known"; then
      call "$(order call "$known")" "$(order again "$known")"
    fi
    say "$(order then "$known")"
    ;;
esac
