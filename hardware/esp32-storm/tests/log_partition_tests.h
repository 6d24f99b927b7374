#pragma once

void testLogPartition();
