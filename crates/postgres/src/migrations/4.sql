-- Limits and caps that all processes over this database keep together. They belong to no base.
-- Times are nanoseconds since 1970, by the clock of the server.

-- A row for each model of an endpoint and account.
CREATE TABLE pikerag.limit_buckets (
    name text COLLATE "C" PRIMARY KEY,
    -- When the bucket is full again.
    requests_full bigint NOT NULL DEFAULT 0,
    tokens_full bigint NOT NULL DEFAULT 0,
    paused_until bigint NOT NULL DEFAULT 0,
    -- The last reading of the clock, which may have been set back since.
    read_at bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
CREATE TABLE pikerag.limit_seats (
    bucket text COLLATE "C" NOT NULL,
    holder text COLLATE "C" NOT NULL,
    turn bigint NOT NULL,
    seats bigint NOT NULL,
    is_waiting boolean NOT NULL,
    until bigint NOT NULL,
    PRIMARY KEY (bucket, holder)
) WITH (fillfactor = 50);

-- The row of an account is locked while its reservations change.
CREATE TABLE pikerag.limit_accounts (name text COLLATE "C" PRIMARY KEY);
-- What each process has spent, and the highest possible cost of its running calls.
CREATE TABLE pikerag.limit_holds (
    account text COLLATE "C" NOT NULL,
    holder text COLLATE "C" NOT NULL,
    turn bigint NOT NULL,
    spent_money bigint NOT NULL,
    spent_tokens bigint NOT NULL,
    spent_calls bigint NOT NULL,
    held_money bigint NOT NULL,
    held_tokens bigint NOT NULL,
    held_calls bigint NOT NULL,
    until bigint NOT NULL,
    PRIMARY KEY (account, holder)
);

-- The time now. Tests simulate it.
CREATE FUNCTION pikerag.limit_clock(simulated bigint) RETURNS bigint LANGUAGE sql VOLATILE
    AS $$ SELECT coalesce(simulated, (extract(epoch FROM clock_timestamp()) * 1000000000)::bigint) $$;

-- Books an amount, whose use must wait for `delay`, and takes what else the bucket has now, up to `ahead`.
CREATE FUNCTION pikerag.book_rate(
    full_at bigint, instant bigint, per_minute bigint, burst bigint, booked bigint, ahead bigint,
    OUT full_then bigint, OUT taken bigint, OUT delay bigint
) LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    minute CONSTANT numeric := 60000000000;
    whole CONSTANT bigint := ceil(burst * minute / per_minute)::bigint;
    further bigint;
BEGIN
    full_then := greatest(full_at, instant) + ceil(booked * minute / per_minute)::bigint;
    taken := booked;
    delay := greatest(0, full_then - instant - whole);
    IF booked = 0 THEN
        delay := 0;
    END IF;
    IF 0 < ahead AND full_then < instant + whole THEN
        further := least(ahead, floor((instant + whole - full_then) * per_minute::numeric / minute)::bigint);
        taken := taken + further;
        full_then := full_then + ceil(further * minute / per_minute)::bigint;
    END IF;
END $$;

-- See `SharedLimits::take`. The statements after the lock see what other processes have committed.
CREATE FUNCTION pikerag.take_limits(
    its_bucket text, its_holder text, its_turn bigint, running bigint, wanted bigint, in_flight bigint, lease bigint,
    only_with_seat boolean, requests_wanted bigint[], tokens_wanted bigint[], simulated bigint,
    OUT seats bigint, OUT requests bigint, OUT tokens bigint, OUT delay bigint, OUT pause bigint
) LANGUAGE plpgsql AS $$
DECLARE
    bucket_row pikerag.limit_buckets;
    instant bigint;
    set_back bigint;
    known bigint;
    others bigint;
    active bigint;
    share bigint;
    allowed bigint;
    further bigint;
BEGIN
    -- A crash of the server may forget the last moment.
    PERFORM set_config('synchronous_commit', 'off', true);
    seats := 0; requests := 0; tokens := 0; delay := 0; pause := 0;
    SELECT * INTO bucket_row FROM pikerag.limit_buckets b WHERE b.name = its_bucket FOR UPDATE;
    IF NOT FOUND THEN
        INSERT INTO pikerag.limit_buckets (name) VALUES (its_bucket) ON CONFLICT DO NOTHING;
        SELECT * INTO bucket_row FROM pikerag.limit_buckets b WHERE b.name = its_bucket FOR UPDATE;
    END IF;
    SELECT s.turn INTO known FROM pikerag.limit_seats s WHERE s.bucket = its_bucket AND s.holder = its_holder;
    IF its_turn <= known THEN
        RETURN;
    END IF;
    instant := pikerag.limit_clock(simulated);
    set_back := greatest(0, bucket_row.read_at - instant);
    bucket_row.requests_full := bucket_row.requests_full - set_back;
    bucket_row.tokens_full := bucket_row.tokens_full - set_back;
    bucket_row.paused_until := bucket_row.paused_until - set_back;
    pause := greatest(0, bucket_row.paused_until - instant);

    SELECT coalesce(sum(s.seats), 0), count(*) FILTER (WHERE 0 < s.seats OR s.is_waiting)
      INTO others, active
      FROM pikerag.limit_seats s
     WHERE s.bucket = its_bucket AND s.holder <> its_holder AND instant < s.until;
    seats := running;
    IF pause = 0 THEN
        allowed := in_flight - others;
        -- While others wait and have less than an equal share, a process takes no more than that.
        share := (in_flight + active) / (active + 1);
        IF EXISTS (SELECT 1 FROM pikerag.limit_seats s WHERE s.bucket = its_bucket AND s.holder <> its_holder
                      AND instant < s.until AND s.is_waiting AND s.seats < share) THEN
            allowed := least(allowed, share);
        END IF;
        seats := greatest(running, least(running + wanted, allowed));
    END IF;
    INSERT INTO pikerag.limit_seats AS s (bucket, holder, turn, seats, is_waiting, until)
    VALUES (its_bucket, its_holder, its_turn, take_limits.seats, 0 < wanted AND take_limits.seats = running, instant + lease)
    ON CONFLICT (bucket, holder) DO UPDATE SET turn = excluded.turn, seats = excluded.seats,
        is_waiting = excluded.is_waiting, until = excluded.until;
    DELETE FROM pikerag.limit_seats s WHERE s.bucket = its_bucket AND s.until < instant - 3600000000000;

    IF pause = 0 AND (running < seats OR NOT only_with_seat) THEN
        IF requests_wanted IS NOT NULL THEN
            SELECT r.full_then, r.taken, r.delay INTO bucket_row.requests_full, requests, delay
              FROM pikerag.book_rate(bucket_row.requests_full, instant, requests_wanted[1], requests_wanted[2],
                                     requests_wanted[3], requests_wanted[4]) r;
        END IF;
        IF tokens_wanted IS NOT NULL THEN
            SELECT r.full_then, r.taken, r.delay INTO bucket_row.tokens_full, tokens, further
              FROM pikerag.book_rate(bucket_row.tokens_full, instant, tokens_wanted[1], tokens_wanted[2],
                                     tokens_wanted[3], tokens_wanted[4]) r;
            delay := greatest(delay, further);
        END IF;
    END IF;
    UPDATE pikerag.limit_buckets b
       SET requests_full = bucket_row.requests_full, tokens_full = bucket_row.tokens_full,
           paused_until = bucket_row.paused_until, read_at = instant
     WHERE b.name = its_bucket;
END $$;

-- See `SharedLimits::pause`.
CREATE FUNCTION pikerag.pause_limits(its_bucket text, wait bigint, simulated bigint) RETURNS void LANGUAGE sql AS $$
    INSERT INTO pikerag.limit_buckets AS b (name, paused_until) VALUES (its_bucket, pikerag.limit_clock(simulated) + wait)
    ON CONFLICT (name) DO UPDATE SET paused_until = greatest(b.paused_until, excluded.paused_until) $$;

-- See `SharedLimits::reserve`. Arrays hold money, tokens and calls. Outcomes: 0 reserved, 1 later, 2 over a cap.
CREATE FUNCTION pikerag.reserve_limits(
    its_account text, its_holder text, its_turn bigint, its_spent bigint[], its_held bigint[], wanted bigint[],
    caps bigint[], lease bigint, simulated bigint, OUT outcome integer, OUT spent bigint[]
) LANGUAGE plpgsql AS $$
DECLARE
    most CONSTANT numeric := 9223372036854775807;
    instant bigint;
    known bigint;
    gone numeric[];
    running numeric[];
    held bigint[] := its_held;
BEGIN
    outcome := 1;
    PERFORM 1 FROM pikerag.limit_accounts a WHERE a.name = its_account FOR UPDATE;
    IF NOT FOUND THEN
        INSERT INTO pikerag.limit_accounts (name) VALUES (its_account) ON CONFLICT DO NOTHING;
        PERFORM 1 FROM pikerag.limit_accounts a WHERE a.name = its_account FOR UPDATE;
    END IF;
    SELECT h.turn INTO known FROM pikerag.limit_holds h WHERE h.account = its_account AND h.holder = its_holder;
    instant := pikerag.limit_clock(simulated);
    SELECT array[coalesce(sum(h.spent_money + CASE WHEN h.until <= instant THEN h.held_money ELSE 0 END::numeric), 0),
                 coalesce(sum(h.spent_tokens + CASE WHEN h.until <= instant THEN h.held_tokens ELSE 0 END::numeric), 0),
                 coalesce(sum(h.spent_calls + CASE WHEN h.until <= instant THEN h.held_calls ELSE 0 END::numeric), 0)],
           array[coalesce(sum(h.held_money) FILTER (WHERE instant < h.until), 0),
                 coalesce(sum(h.held_tokens) FILTER (WHERE instant < h.until), 0),
                 coalesce(sum(h.held_calls) FILTER (WHERE instant < h.until), 0)]
      INTO gone, running
      FROM pikerag.limit_holds h WHERE h.account = its_account AND h.holder <> its_holder;
    FOR i IN 1..3 LOOP
        gone[i] := gone[i] + its_spent[i];
        running[i] := running[i] + its_held[i];
        spent[i] := least(gone[i], most)::bigint;
    END LOOP;
    IF its_turn <= known THEN
        RETURN;
    END IF;
    outcome := 0;
    FOR i IN 1..3 LOOP
        IF caps[i] < gone[i] + wanted[i] THEN
            outcome := 2;
        ELSIF outcome = 0 AND caps[i] < gone[i] + running[i] + wanted[i] THEN
            outcome := 1;
        END IF;
    END LOOP;
    IF outcome = 0 THEN
        FOR i IN 1..3 LOOP
            held[i] := least(held[i]::numeric + wanted[i], most)::bigint;
        END LOOP;
    END IF;
    INSERT INTO pikerag.limit_holds (account, holder, turn, spent_money, spent_tokens, spent_calls,
                                     held_money, held_tokens, held_calls, until)
    VALUES (its_account, its_holder, its_turn, its_spent[1], its_spent[2], its_spent[3], held[1], held[2], held[3], instant + lease)
    ON CONFLICT (account, holder) DO UPDATE SET turn = excluded.turn,
        spent_money = excluded.spent_money, spent_tokens = excluded.spent_tokens, spent_calls = excluded.spent_calls,
        held_money = excluded.held_money, held_tokens = excluded.held_tokens, held_calls = excluded.held_calls,
        until = excluded.until;
END $$;
