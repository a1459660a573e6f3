-- Block: names of files. The record `x.md` of `r.jsonl` and the file `r.jsonl#x.md` had one address, and took
-- each other's place: both files are read again, under addresses of their own.
UPDATE files SET hash = '' WHERE instr(path, '#') OR path IN
    (SELECT substr(path, 1, instr(path, '#') - 1) FROM files WHERE instr(path, '#'));
-- End of block.
