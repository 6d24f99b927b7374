#pragma once

void testSketch();
