// Products of residues (byte_products.cu) by clusters of two blocks, which together compute tiles of 256 x 256: each
// has 128 rows, and both copy half of the tile's columns for both, as it is the second-level cache that limits the
// rate.
//
// A warp brings stages of 128 terms of 128 rows and 256 columns; two groups of four warps, of 64 rows each,
// multiply them. A stage is brought again when all groups of both blocks have multiplied it. A cluster computes one
// tile after the other, and stages of the next one arrive while sums are reduced and stored.

static const u32 wideStages = 4, wideBlocks = 6, wideStageBytes = wideBlocks * blockBytes, wideTile = 256;

// Ring is a place in the ring of stages, and the parity of the phase of its barriers.
struct Ring {
	u32 stage, parity;
};
MP_DEVICE void advance(Ring &r) {
	r.stage = r.stage + 1 == wideStages ? 0 : r.stage + 1;
	r.parity ^= r.stage == 0;
}

// WideShared is a block's shared memory: stages, of which two blocks of lines are rows and four columns, and
// barriers.
struct WideShared {
	SharedAddress stages, full, empty;
};

struct WideTile {
	u32 row, column; // in tiles
	ByteModulus m;
};

MP_DEVICE WideTile wideTileOf(const ByteProducts &p, u32 tile) {
	u32 down = p.rows / wideTile, across = p.columns / wideTile;
	WideTile t;
	tileOf(tile % (down * across), down, across, &t.row, &t.column);
	t.m = p.moduli[tile / (down * across)];
	return t;
}

MP_DEVICE u32 wideTiles(const ByteProducts &p) { return p.rows / wideTile * (p.columns / wideTile) * p.count; }

// bringStages copies the stages of all tiles of the cluster, by a warp: lanes 0 to 5 have a block of lines each.
MP_DEVICE void bringStages(const ByteProducts &p, const WideShared &s, u32 rank) {
	u32 lane = threadIdx.x;
	u64 rowStep = (u64)blockRows * p.terms;
	Ring ring = {0, 1};
	for (u32 tile = blockIdx.x / 2; tile < wideTiles(p); tile += gridDim.x / 2) {
		WideTile t = wideTileOf(p, tile);
		const u8 *from = lane < 2 ? p.a + t.m.in * p.aStride + (4 * t.row + 2 * rank + lane) * rowStep
		                          : p.b + t.m.in * p.bStride + (4 * t.column + lane - 2) * rowStep;
		u64 jump = (lane < 2 ? p.aStride : p.bStride) - rowStep; // to the next plane
		for (u32 pass = 0; pass < t.m.passes; pass++) {
			for (u32 step = 0; step < p.terms / stageTerms; step++) {
				SharedAddress full = s.full + 8 * ring.stage;
				SharedAddress to = s.stages + ring.stage * wideStageBytes + lane * blockBytes;
				waitPhase(s.empty + 8 * ring.stage, ring.parity);
				if (lane == 0) arriveExpecting(full, wideStageBytes);
				if (lane < 2)
					copyBlock(to, from, blockBytes, full);
				else if (lane < wideBlocks)
					copyHalf(to, from, blockBytes, full, rank);
				warpSync(allLanes);
				from += blockBytes;
				advance(ring);
			}
			from += jump;
		}
	}
}

// addStages adds the products of so many stages, or, without add, sets them. A stage is given back when the products
// of the next one have begun.
MP_DEVICE void addStages(WideSums &sums, const WideShared &s, Ring &ring, u32 count, u32 add) {
	u32 group = threadIdx.x / 128 - 1, before = 0;
#pragma unroll 1
	for (u32 i = 0; i < count; i++) {
		SharedAddress stage = s.stages + ring.stage * wideStageBytes;
		u64 rows = wideOperand(stage + group * blockBytes), columns = wideOperand(stage + 2 * blockBytes);
		waitPhase(s.full + 8 * ring.stage, ring.parity);
		beginWide();
#pragma unroll
		for (u32 k = 0; k < stageTerms / 32; k++) {
			multiplyWide(sums, rows + 2 * k, columns + 2 * k, add);
			add = 1;
		}
		commitWide();
		waitWide<1>();
		if (i) arriveInBoth(s.empty + 8 * before);
		before = ring.stage;
		advance(ring);
	}
	waitWide<0>();
	arriveInBoth(s.empty + 8 * before);
}

// reduceWide brings sums from I on modulo m and multiplies them by a factor.
template <int I> MP_DEVICE void reduceWide(WideSums &sums, const ByteModulus &m, i32 factor) {
	setSum<I>(sums, balanced(sumOf<I>(sums), m.m, m.magic, m.shift) * factor);
	if constexpr (I < 127) reduceWide<I + 1>(sums, m, factor);
}

// storeWide reduces and writes, from part P on, a lane's 16 neighbours in columns 64*(P/2) to 64*(P/2)+63 of row
// 8*(P%2) + g of a warp: their bytes, and, of two digits, another plane.
template <int I> MP_DEVICE i32 residueOf(WideSums &sums, const ByteModulus &m) {
	return balanced(sumOf<I>(sums), m.m, m.magic, m.shift);
}
template <int I> MP_DEVICE void storeFour(WideSums &sums, const ByteModulus &m, u32 *low, u32 *upper) {
	i32 x[4] = {residueOf<I>(sums, m), residueOf<I + 1>(sums, m), residueOf<I + 4>(sums, m), residueOf<I + 5>(sums, m)};
	*low = packBytes((u32)x[0], (u32)x[1], (u32)x[2], (u32)x[3]);
	*upper = packBytes(upperByte(x[0]), upperByte(x[1]), upperByte(x[2]), upperByte(x[3]));
}
template <int P> MP_DEVICE void storeWide(WideSums &sums, const ByteProducts &p, const ByteModulus &m, u8 *c) {
	constexpr int first = P / 2 * 32 + P % 2 * 2;
	u32 line = threadIdx.x / 32 % 4 * 16 + P % 2 * 8 + threadIdx.x % 32 / 4;
	u8 *to = c + (u64)rowOfLine(line) * p.columns + P / 2 * 64 + threadIdx.x % 4 * 16;
	uint4 low, upper;
	storeFour<first>(sums, m, &low.x, &upper.x);
	storeFour<first + 8>(sums, m, &low.y, &upper.y);
	storeFour<first + 16>(sums, m, &low.z, &upper.z);
	storeFour<first + 24>(sums, m, &low.w, &upper.w);
	storeVector((uint4 *)to, low);
	if (m.passes > 1) storeVector((uint4 *)(to + p.cStride), upper);
	if constexpr (P < 7) storeWide<P + 1>(sums, p, m, c);
}

// multiplyStages computes all tiles of the cluster, by a group of four warps its 64 rows.
MP_DEVICE void multiplyStages(WideSums &sums, const ByteProducts &p, const WideShared &s, u32 rank) {
	u32 group = threadIdx.x / 128 - 1, steps = p.terms / stageTerms;
	Ring ring = {0, 0};
	for (u32 tile = blockIdx.x / 2; tile < wideTiles(p); tile += gridDim.x / 2) {
		WideTile t = wideTileOf(p, tile);
		for (u32 pass = 0, done = 0;;) {
			u32 count = steps - done < p.turns ? steps - done : p.turns;
			addStages(sums, s, ring, count, pass + done);
			done += count;
			i32 factor = 1;
			if (done == steps) {
				if (pass + 1 == t.m.passes) break;
				factor = pass++ ? 127 : t.m.gamma;
				done = 0;
			}
			reduceWide<0>(sums, t.m, factor);
		}
		u64 row = (u64)t.row * wideTile + rank * 128 + group * 64;
		storeWide<0>(sums, p, t.m, p.c + t.m.out * p.cStride + row * p.columns + t.column * wideTile);
	}
}

// byteProducts256: clusters of two blocks of 384 threads, as many as fit the device. Shared memory: wideStages *
// wideStageBytes, 16 * wideStages for barriers, and 1024 to begin at a multiple of that.
MP_KERNEL(byteProducts256, 384)(ByteProducts p) {
	MP_SHARED(unsigned char, shared);
	WideShared s;
	s.stages = alignedBy1024(sharedAddress(shared));
	s.full = s.stages + wideStages * wideStageBytes;
	s.empty = s.full + 8 * wideStages;
	WideSums sums;
	beginSums(sums);
	u32 rank = blockIdx.x % 2;
	if (threadIdx.x == 0)
		for (u32 i = 0; i < wideStages; i++) {
			beginBarrier(s.full + 8 * i, 1);
			beginBarrier(s.empty + 8 * i, 8 * clusterBlocks);
		}
	syncCluster();
	if (threadIdx.x < 128) {
		giveRegisters<40>();
		if (threadIdx.x < 32) bringStages(p, s, rank);
	} else {
		keepRegisters<232>();
		multiplyStages(sums, p, s, rank);
	}
	syncCluster();
}
MP_REGISTER(byteProducts256);
