-- Puts the same body repeatedly, each time to the thread's next signed address from a file.
local count, thread_number = 0, 0
local paths = {}

function setup(thread)
  thread_number = thread_number + 1
  thread:set("number", thread_number)
end

function init(arguments)
  local file = io.open(arguments[1], "rb")
  wrk.body = file:read("*a")
  file:close()
  wrk.headers["Host"] = arguments[3]
  wrk.headers["If-None-Match"] = "*"
  wrk.headers["x-amz-checksum-sha256"] = arguments[4]
  local line_number, threads = 0, tonumber(arguments[5])
  for path in io.lines(arguments[2]) do
    line_number = line_number + 1
    if line_number % threads == number % threads then paths[#paths + 1] = path end
  end
end

function request()
  count = count + 1
  return wrk.format("PUT", paths[(count - 1) % #paths + 1])
end

function done(summary)
  local errors = summary.errors
  io.write(string.format("RESULT %d %d %d\n", summary.requests, summary.duration,
    errors.status + errors.connect + errors.read + errors.write + errors.timeout))
end
