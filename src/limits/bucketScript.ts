/**
 * `takeToken` of core as one atomic script. The server's clock decides, so the clocks of the machines that ask do not
 * matter. A bucket that is full again is forgotten, because a new one starts full.
 */
export const bucketScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local perMinute, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local capacity = perMinute + burst
local held = redis.call('HMGET', KEYS[1], 'tokens', 'updated')
local tokens, updated = tonumber(held[1] or ''), tonumber(held[2] or '')
if not tokens or not updated then tokens, updated = capacity, now end
tokens = math.min(capacity, tokens + math.max(0, now - updated) * perMinute / 60000)
local allowed = 0
if tokens >= 1 then
  tokens, allowed = tokens - 1, 1
end
local exact = string.format('%.17g', tokens)
redis.call('HSET', KEYS[1], 'tokens', exact, 'updated', now)
redis.call('PEXPIRE', KEYS[1], math.ceil((capacity - tokens) * 60000 / perMinute) + 1000)
return { allowed, exact, now }
`;
