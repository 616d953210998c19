-- Posts the same record repeatedly, each time with a new decision id, under a random key.
local count, thread_number = 0, 0
local run, before, after
local keys = {}

function setup(thread)
  thread_number = thread_number + 1
  thread:set("number", thread_number)
end

function init(arguments)
  run = arguments[2]
  local file = io.open(arguments[3], "rb")
  before, after = file:read("*a"):match("^(.-)DECISION_ID(.*)$")
  file:close()
  for key in arguments[1]:gmatch("[^,]+") do table.insert(keys, "Bearer " .. key) end
  wrk.headers["Content-Type"] = "application/json"
end

function request()
  count = count + 1
  wrk.headers["Authorization"] = keys[math.random(#keys)]
  return wrk.format("POST", nil, nil, before .. run .. "-" .. number .. "-" .. count .. after)
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format("RESULT %d %d %d %d %.1f\n", summary.requests, summary.duration, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout, latency:percentile(99)))
end
