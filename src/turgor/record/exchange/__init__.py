"""Files for other programs: glTF (.glb), USD (.usd, .usda, .usdc, .usdz), meshes and mesh sequences (.obj, .ply),
Rerun (.rrd)."""
