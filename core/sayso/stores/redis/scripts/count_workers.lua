-- How many desks are at work.
return redis.call('ZCOUNT', P .. 'desks', string.format('(%.0f', clock()), '+inf')
