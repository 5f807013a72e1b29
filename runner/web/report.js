// Draws the charts of the page from what html_data.c wrote, each when it comes into view.
'use strict';
(() => {
	const data = JSON.parse(document.getElementById('data').textContent);
	// Colours that the colour-blind tell apart (Okabe and Ito); then the same, dashed.
	const light = ['#0072b2', '#d55e00', '#007a5a', '#a8548a', '#8a6d00', '#2f7fb8', '#444444'];
	const dark = ['#56b4e9', '#f0914a', '#3fc9a0', '#e09cc8', '#e0c341', '#9ccdf0', '#d0d0d0'];
	const dashes = [[], [6, 3], [2, 2]];
	const isDark = window.matchMedia('(prefers-color-scheme: dark)');
	const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
	const colour = i => (isDark.matches ? dark : light)[i % light.length];
	const dash = i => dashes[Math.floor(i / light.length) % dashes.length];

	const units = (value, steps, names) => {
		let i = 0;
		while (i + 1 < names.length && Math.abs(value) >= steps) {
			value /= steps;
			i++;
		}
		return Number(value.toPrecision(3)) + names[i];
	};
	const showRate = value => units(value, 1000, ['', 'k', 'M', 'G']);
	const showBytes = value => units(value, 1024, ['B/s', 'KiB/s', 'MiB/s', 'GiB/s', 'TiB/s']);
	const showTime = ns => units(ns / 1000, 1000, ['us', 'ms', 's']);

	// A figure by which classes are compared: its name is that of the table beside it.
	const figures = [
		{name: 'IOPS', key: 'iops', show: showRate},
		{name: 'Bandwidth', key: 'bw', show: showBytes},
		{name: 'Latency, p50', key: 'p50', show: showTime},
		{name: 'Latency, p99', key: 'p99', show: showTime},
	];
	let chosen = figures[0];

	const runsOf = section => data.runs.filter(run => run.section === section);
	const opsOf = runs => [...new Set(runs.map(run => run.op))];
	const mean = list => list.reduce((sum, x) => sum + x, 0) / list.length;
	const nameOf = (run, runs) => {
		const alike = runs.filter(other => other.class === run.class);
		const tests = new Set(alike.map(other => other.test)).size > 1;
		const ops = new Set(alike.map(other => other.op)).size > 1;
		return data.classes[run.class] + (tests ? ' ' + run.test : '') + (ops ? ' ' + run.op : '');
	};

	// The lines over bars: from low to high.
	const spread = {
		id: 'spread',
		afterDatasetsDraw(chart) {
			const {ctx, scales: {x}} = chart;
			chart.data.datasets.forEach((dataset, d) => (dataset.spread || []).forEach((pair, i) => {
				const bar = chart.getDatasetMeta(d).data[i];
				if (!pair || !bar || !chart.isDatasetVisible(d))
					return;
				const [from, to] = pair.map(value => x.getPixelForValue(value));
				ctx.save();
				ctx.strokeStyle = style('--text');
				ctx.lineWidth = 1.5;
				ctx.beginPath();
				ctx.moveTo(from, bar.y);
				ctx.lineTo(to, bar.y);
				for (const end of [from, to]) {
					ctx.moveTo(end, bar.y - 4);
					ctx.lineTo(end, bar.y + 4);
				}
				ctx.stroke();
				ctx.restore();
			}));
		},
	};

	// What is seen in a series: stalls as a shade, the end of a burst as an upright line.
	const marks = {
		id: 'marks',
		beforeDatasetsDraw(chart) {
			const {ctx, chartArea, scales: {x}} = chart;
			chart.data.datasets.forEach((dataset, d) => {
				if (!chart.isDatasetVisible(d))
					return;
				ctx.save();
				if (dataset.stall) {
					const [from, long] = dataset.stall;
					const left = x.getPixelForValue(from);
					ctx.globalAlpha = 0.2;
					ctx.fillStyle = dataset.borderColor;
					ctx.fillRect(left, chartArea.top,
						Math.max(2, x.getPixelForValue(from + long) - left), chartArea.height);
				}
				if (dataset.fell) {
					const at = x.getPixelForValue(dataset.fell);
					ctx.globalAlpha = 1;
					ctx.strokeStyle = dataset.borderColor;
					ctx.setLineDash([4, 4]);
					ctx.beginPath();
					ctx.moveTo(at, chartArea.top);
					ctx.lineTo(at, chartArea.bottom);
					ctx.stroke();
				}
				ctx.restore();
			});
		},
	};

	// Where two levels fit a series best, in seconds.
	const stepOf = run => {
		const squares = list => list.reduce((sum, x) => sum + (x - mean(list)) ** 2, 0);
		let best = 0, least = Infinity;
		for (let i = 1; i < run.series.length; i++) {
			const left = squares(run.series.slice(0, i)) + squares(run.series.slice(i));
			if (left < least)
				[best, least] = [i, left];
		}
		return best * run.interval;
	};

	const axis = (title, show, more) => ({
		title: {display: true, text: title, color: style('--faint')},
		grid: {color: style('--line')},
		ticks: {color: style('--text'), callback: value => show(value)},
		...more,
	});
	// On a logarithmic scale only 1, 2 and 5 of each decade have room.
	const decades = show => ({
		color: style('--text'),
		callback: value => /^[125](\.0+)?e/.test(value.toExponential(6)) ? show(value) : '',
	});
	const options = (scales, label) => ({
		animation: false,
		maintainAspectRatio: false,
		interaction: {mode: 'nearest', intersect: false},
		scales,
		plugins: {
			legend: {position: 'bottom', maxHeight: 110, labels: {color: style('--text'), boxWidth: 24}},
			tooltip: {callbacks: {label}},
		},
	});
	const lineOf = (run, runs, i, points) => ({
		label: nameOf(run, runs), data: points, borderColor: colour(i), backgroundColor: colour(i),
		borderDash: dash(i), borderWidth: 2, pointRadius: points.length < 3 ? 3 : 0,
		pointHitRadius: 8,
	});

	// One bar of a class: the mean of its repeats, and what they span, or what its seconds do.
	const barOf = runs => {
		const values = runs.map(run => run[chosen.key]).filter(Number.isFinite);
		if (!values.length)
			return {value: null, span: null};
		if (values.length > 1)
			return {value: mean(values), span: [Math.min(...values), Math.max(...values)]};
		const {low, high, iops, bw} = runs[0];
		const scale = {iops: 1, bw: bw / iops}[chosen.key];
		const span = scale && low !== undefined ? [low * scale, high * scale] : null;
		return {value: values[0], span};
	};

	const draw = {
		bars(section) {
			const runs = runsOf(section);
			const classes = [...new Set(runs.map(run => run.class))];
			const datasets = opsOf(runs).map((op, i) => {
				const bars = classes.map(c =>
					barOf(runs.filter(run => run.op === op && run.class === c)));
				return {
					label: op, backgroundColor: colour(i), maxBarThickness: 28,
					data: bars.map(bar => bar.value), spread: bars.map(bar => bar.span),
				};
			}).filter(dataset => dataset.data.some(value => value !== null));
			if (!datasets.length)
				return null;
			const more = {beginAtZero: true, suggestedMax: 1.05 * Math.max(...datasets.flatMap(
				dataset => dataset.spread.map(pair => pair ? pair[1] : 0)))};
			return {
				type: 'bar',
				rows: classes.length * datasets.length,
				title: `${chosen.name} of ${data.sections[section]} by class`,
				data: {labels: classes.map(c => data.classes[c]), datasets},
				options: {
					...options({
						x: axis(chosen.name, chosen.show, more),
						y: {ticks: {color: style('--text'), autoSkip: false},
							grid: {display: false}},
					}, item => `${item.dataset.label}: ${chosen.show(item.parsed.x)}`),
					indexAxis: 'y',
				},
				plugins: [spread],
			};
		},

		percentiles(section) {
			const runs = runsOf(section).filter(run => run.percentiles.length);
			if (!runs.length)
				return null;
			const percent = nines => Number((100 * (1 - 10 ** -nines)).toFixed(4)) + ' %';
			return {
				type: 'line',
				title: `Latency of ${data.sections[section]} by percentile`,
				data: {datasets: runs.map((run, i) => lineOf(run, runs, i, run.percentiles.map(
					(y, n) => ({x: (n + 1) * data.nines_step, y}))))},
				options: options({
					x: axis('Percentile', percent,
						{type: 'linear', min: 0, max: 5, ticks: {stepSize: 1,
							color: style('--text'), callback: percent}}),
					y: axis('Latency', showTime, {type: 'logarithmic', ticks: decades(showTime)}),
				}, item => `${item.dataset.label}: ${percent(item.parsed.x)} within ` +
					showTime(item.parsed.y)),
			};
		},

		series(section) {
			const runs = runsOf(section).filter(run => run.series.length > 1);
			if (!runs.length)
				return null;
			return {
				type: 'line',
				title: `Requests a second of ${data.sections[section]} over time`,
				data: {datasets: runs.map((run, i) => ({
					...lineOf(run, runs, i, run.series.map(
						(y, n) => ({x: (n + 0.5) * run.interval, y}))),
					stall: run.stall, fell: run.burst ? stepOf(run) : 0,
				}))},
				options: options({
					x: axis('Seconds', value => value, {type: 'linear', min: 0}),
					y: axis('IOPS', showRate, {beginAtZero: true}),
				}, item => `${item.dataset.label}: ${showRate(item.parsed.y)} at ` +
					`${Number(item.parsed.x.toPrecision(3))} s`),
				plugins: [marks],
			};
		},

		sweep(number) {
			const sweep = data.sweeps[number];
			const line = (name, key, i, scale) => ({
				label: name, yAxisID: scale, borderColor: colour(i), backgroundColor: colour(i),
				borderDash: dash(i), borderWidth: 2,
				pointRadius: sweep.points.map(point => point.depth === sweep.knee ? 7 : 3),
				data: sweep.points.filter(point => point[key] !== undefined)
					.map(point => ({x: point.depth, y: point[key]})),
			});
			return {
				type: 'line',
				title: `${sweep.class}: ${sweep.first} to ${sweep.last}` +
					(sweep.knee ? `, the knee is at depth ${sweep.knee}` : ', it still grows'),
				caption: true,
				data: {datasets: [line('IOPS', 'iops', 0, 'y'), line('p50', 'p50', 1, 'latency'),
					line('p99', 'p99', 2, 'latency')]},
				options: options({
					x: axis('Depth', value => value, {type: 'logarithmic'}),
					y: axis('IOPS', showRate, {beginAtZero: true}),
					latency: axis('Latency', showTime, {type: 'logarithmic', position: 'right',
						ticks: decades(showTime), grid: {display: false}}),
				}, item => `${item.dataset.label} at depth ${item.parsed.x}: ` +
					(item.dataset.label === 'IOPS' ? showRate : showTime)(item.parsed.y)),
			};
		},
	};

	const charts = new Map();

	const show = figure => {
		const config = draw[figure.dataset.chart](Number(figure.dataset.section));
		charts.get(figure)?.destroy();
		charts.delete(figure);
		figure.hidden = !config;
		if (!config)
			return;
		const canvas = figure.querySelector('canvas');
		canvas.setAttribute('role', 'img');
		canvas.setAttribute('aria-label', config.title + '; the numbers are in the table below');
		if (config.rows)
			canvas.parentNode.style.height = Math.max(12, 7 + 1.6 * config.rows) + 'rem';
		if (config.caption)
			figure.querySelector('figcaption').textContent = config.title;
		charts.set(figure, new Chart(canvas, config));
	};

	const all = [...document.querySelectorAll('figure[data-chart]')];
	const showInView = new IntersectionObserver(entries => {
		for (const entry of entries)
			if (entry.isIntersecting) {
				showInView.unobserve(entry.target);
				show(entry.target);
			}
	}, {rootMargin: '400px'});
	for (const figure of all)
		figure.hidden = false;
	for (const figure of all)
		if (figure.offsetParent && figure.getBoundingClientRect().top < window.innerHeight)
			show(figure);
		else
			showInView.observe(figure);

	const redraw = kind => {
		for (const figure of [...charts.keys()])
			if (!kind || figure.dataset.chart === kind)
				show(figure);
	};
	isDark.addEventListener('change', () => redraw());

	// One table of all tests at a time, and the bars of the same figure.
	const tables = [...document.querySelectorAll('.figure')];
	const choice = document.getElementById('choice');
	const select = choice.querySelector('select');
	const choose = figure => {
		chosen = figure;
		for (const table of tables)
			table.hidden = table.querySelector('caption').textContent !== figure.name;
		redraw('bars');
	};
	for (const figure of figures)
		select.add(new Option(figure.name));
	select.addEventListener('change', () => choose(figures[select.selectedIndex]));
	choice.hidden = false;
	choose(chosen);

	// On paper everything is open and drawn.
	window.addEventListener('beforeprint', () => {
		for (const details of document.querySelectorAll('details'))
			details.open = true;
		for (const table of tables)
			table.hidden = false;
		for (const figure of all)
			if (!charts.has(figure))
				show(figure);
	});
	window.addEventListener('afterprint', () => choose(chosen));
})();
