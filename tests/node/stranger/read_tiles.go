// Reads a folder of tiles (C2SP tlog-tiles) with the checksum database's own code: the checkpoint with sumdb/note, every
// entry against it with sumdb/tlog.
//
//	read_tiles FOLDER VKEY_FILE
package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type files struct{ folder string }

func (f files) Height() int { return 8 }

// The folder has no height in its paths.
func (f files) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	var all [][]byte
	for _, tile := range tiles {
		data, err := os.ReadFile(filepath.Join(f.folder, "tile", strings.TrimPrefix(tile.Path(), "tile/8/")))
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}

func (f files) SaveTiles([]tlog.Tile, [][]byte) {}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	folder, keys := os.Args[1], os.Args[2]
	text, err := os.ReadFile(keys)
	check(err)
	verifier, err := note.NewVerifier(strings.SplitN(string(text), "\n", 2)[0])
	check(err)
	signed, err := os.ReadFile(filepath.Join(folder, "checkpoint"))
	check(err)
	opened, err := note.Open(signed, note.VerifierList(verifier))
	check(err)
	var size int64
	var root tlog.Hash
	lines := strings.Split(opened.Text, "\n")
	_, err = fmt.Sscanf(lines[1], "%d", &size)
	check(err)
	root, err = tlog.ParseHash(lines[2])
	check(err)
	tree := tlog.Tree{N: size, Hash: root}
	hashes := tlog.TileHashReader(tree, files{folder})
	for n := int64(0); n < size; n++ {
		bundle := tlog.Tile{H: 8, L: 0, N: n / 256, W: 256}
		if rest := size - n/256*256; rest < 256 {
			bundle.W = int(rest)
		}
		name := strings.Replace(bundle.Path(), "tile/8/0/", "tile/entries/", 1)
		data, err := os.ReadFile(filepath.Join(folder, name))
		check(err)
		for skip := n % 256; skip > 0; skip-- {
			data = data[2+binary.BigEndian.Uint16(data):]
		}
		entry := data[2 : 2+binary.BigEndian.Uint16(data)]
		proof, err := tlog.ProveRecord(size, n, hashes)
		check(err)
		check(tlog.CheckRecord(proof, size, root, n, tlog.RecordHash(entry)))
	}
	fmt.Println("ok", size)
}
