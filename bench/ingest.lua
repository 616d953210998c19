-- Posts one record again and again, each time with a decision id of its own.
local count, thread_number = 0, 0
local run, before, after

function setup(thread)
  thread_number = thread_number + 1
  thread:set("number", thread_number)
end

function init(arguments)
  run = arguments[2]
  local file = io.open(arguments[3], "rb")
  before, after = file:read("*a"):match("^(.-)DECISION_ID(.*)$")
  file:close()
  wrk.headers["Authorization"] = "Bearer " .. arguments[1]
  wrk.headers["Content-Type"] = "application/json"
end

function request()
  count = count + 1
  return wrk.format("POST", nil, nil, before .. run .. "-" .. number .. "-" .. count .. after)
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("RESULT %d %d %d %d %.1f\n", summary.requests, summary.duration, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout, latency:percentile(99)))
end
